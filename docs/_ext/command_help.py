"""The directive `command-help`: what `kdegraph COMMAND --help` prints, as it stands today."""

from click import Context
from docutils import nodes
from docutils.parsers.rst import Directive
from kdegraph.cli import main


class CommandHelp(Directive):
    """Show the help of the command `kdegraph`, or of one of its commands."""

    optional_arguments = 1

    def run(self):
        command, settings = main, main.context_settings | {"terminal_width": 78}
        context = Context(command, info_name="kdegraph", **settings)
        for name in self.arguments:
            command = main.get_command(context, name)
            context = Context(command, info_name=name, parent=context, terminal_width=78)
        text = command.get_help(context)
        return [nodes.literal_block(text, text, language="text")]


def setup(app):
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
