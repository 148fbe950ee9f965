"""Hooks of the build: links of the README that work on a package index, and an sdist without files
that belong to the repository alone.
"""

import re
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

# Target of a link in Markdown that is a file of the repository.
RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)]+)\)")


def with_absolute_links(text, address, version):
    """Return Markdown whose links to files lead to the repository at `address`, as it was at the
    tag of a version; unchanged without an address.
    """
    if not address:
        return text

    def absolute(link):
        picture, words, path = link.groups()
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({address}/{kind}/v{version}/{path})"

    return RELATIVE.sub(absolute, text)


class AbsoluteLinks(MetadataHookInterface):
    """Make the README the description of the package."""

    PLUGIN_NAME = "custom"

    def update(self, metadata):
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = with_absolute_links(text, self.config["address"], metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


class WithoutIgnored(BuildHookInterface):
    """Keep `.gitignore` out of the sdist, into which hatchling puts it otherwise."""

    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):
        included = build_data["force_include"]
        for path in [path for path in included if Path(path).name == ".gitignore"]:
            del included[path]
