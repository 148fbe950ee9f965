"""`kdegraph explore`."""

import gc

import click

from kdegraph.cli._errors import Failure
from kdegraph.cli._options import FILE, Integer


@click.command()
@click.argument("file", type=FILE, required=False)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen at. 0.0.0.0 lets other machines in, with a token.",
)
@click.option(
    "--port",
    type=Integer(0, 65535),
    default=5006,
    show_default=True,
    help="Port to listen at; 0 takes any that is free.",
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open a browser.")
@click.option(
    "--allow-origin",
    multiple=True,
    metavar="ORIGIN",
    help="Name under which the page may be opened besides those of this machine: HOST, HOST:PORT "
    "or a full origin such as https://example.org. Can be repeated.",
)
@click.option(
    "--token",
    is_flag=True,
    help="Ask for a token, which the printed address has, also where only this machine can open "
    "the page.",
)
@click.option(
    "--password-file",
    type=FILE,
    help="Ask for the password in this file instead of a token. Nobody else may be able to read "
    "the file.",
)
@click.option(
    "--prefix",
    default="",
    metavar="PATH",
    help="Path of the page, if a proxy passes it on: with /kdegraph, the page is at "
    "https://HOST/kdegraph/.",
)
@click.option(
    "--window",
    is_flag=True,
    help="Show it in a window of its own and end with that; at 127.0.0.1, on a free port.",
)
@click.pass_context
def explore(context, /, file, browser, window, **options):
    """Explore data in the browser: move sigma, the number of neighbors and of clusters, and watch
    edges, spectrum and clusters follow.

    Without FILE it starts with built-in data; files can be opened in the browser too. Prints the
    address and who can open it; Ctrl+C stops it.

    \b
    Examples:
      kdegraph explore
      kdegraph explore points.csv
      kdegraph explore photo.jpg --port 8080 --no-browser
      kdegraph explore points.csv --window
      kdegraph explore --host 0.0.0.0 --password-file password.txt
    """
    if window:
        _refuse_with_window(context)
    if file is not None:
        from kdegraph.datasets import file_type

        file_type(file)
    # What is imported makes 400,000 objects that stay. Searching them for garbage would take a
    # fifth of the time.
    gc.disable()
    try:
        if window:
            from kdegraph_explorer.serving.window import show
        else:
            from kdegraph_explorer.app import serve
    except ModuleNotFoundError as error:
        raise Failure(
            f"the explorer needs further packages ({error.name} is missing); "
            'install them with: pip install "kdegraph[explorer]"'
        ) from None
    finally:
        gc.freeze()  # ignores them from then on
        gc.enable()
    try:
        if window:
            show(file)
        else:
            serve(file, show=browser, **options)
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)  # the usual end of a server, not a failure
    except OSError as error:
        raise click.BadParameter(
            f"cannot listen at {options['host']}, port {options['port']}: "
            f"{error.strerror or error}; try --port 0.",
            param_hint="'--port'",
        ) from None


def _refuse_with_window(context):
    """Refuse options that do not apply to a window of its own."""
    for name in context.params:
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and name not in ("file", "window"):
            raise click.BadParameter(
                "cannot be given with --window, which chooses it itself.",
                param_hint=f"'--{name.replace('_', '-')}'",
            )
