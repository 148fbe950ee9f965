"""Change what Bokeh (written for 3.9) does where it offers no public way."""

from contextlib import ExitStack, contextmanager
from pathlib import Path

# A script for the head of a page. Without it, Bokeh lays out the whole page once for each element
# that changes, some 30 times where a view is opened, asks the browser for a style of each line and
# text that it draws, and does nothing where the mouse rests before it drags.
SCRIPT = Path(__file__).with_suffix(".js")


def application_of(server):
    """Return the Tornado application of a server.

    Rules that are added to it see a request before Bokeh's handlers. Without them, the server does
    not check who enters.
    """
    return server._tornado


@contextmanager
def counted_once(models):
    """Have the documents of `models` look for new models at the end of this context only.

    Without this, they read all of their models, which takes a tenth of a second, for each property
    that gets another model.
    """
    documents = {model.document for model in models} - {None}
    with ExitStack() as stack:
        for document in documents:
            freeze = document.models.freeze()
            freeze.__enter__()
            # Bokeh's own context would not end with an error.
            stack.callback(freeze.__exit__, None, None, None)
        yield
