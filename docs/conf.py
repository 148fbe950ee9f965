"""Settings of the manual: `make docs` builds it with Sphinx."""

import sys
from pathlib import Path

import kdegraph

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "kdegraph"
author = "The kdegraph authors"
version = release = kdegraph.__version__.partition("+")[0]  # without the commit

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "command_help",
]
exclude_patterns = ["_ext", "pictures", "gallery/*.py", "gallery/*.ipynb"]
nitpicky = True  # what is marked as a link has to lead somewhere
default_role = "py:obj"  # docstrings' `names`: links where they are public, and code otherwise
nitpick_ignore_regex = [("py:obj", ".*")]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # numpydoc's sections name the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_use_plots = False

plot_formats = [("svg", 100)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_rcparams = {
    "figure.figsize": (6.5, 3.2),
    "figure.facecolor": "white",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "path",
}
plot_apply_rcparams = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib",),
    "ignore_repr_types": r"matplotlib\.",  # what a last line that draws returns
    "min_reported_time": float("inf"),  # times of a shared machine say little
    "write_computation_times": False,
    "show_memory": False,
    "download_all_examples": False,
    "show_signature": False,
}

html_theme = "furo"
pygments_dark_style = "github-dark"  # that of the theme underlines modules, as if they were links
html_title = f"kdegraph {release}"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


def find_public_name(app, env, node, contnode):
    """Resolve the names of `kdegraph` also in docstrings of its modules and of other packages."""
    if node.get("reftype") != "obj":
        return None
    name, page = f"kdegraph.{node['reftarget']}", node["refdoc"]
    return env.domains["py"].resolve_xref(env, page, app.builder, "obj", name, node, contnode)


def setup(app):
    app.connect("missing-reference", find_public_name)
