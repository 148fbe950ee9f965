"""Change what Bokeh (written for 3.9) does where it offers no public way."""

from pathlib import Path

# A script for the head of a page. Without it, Bokeh lays out the whole page once for each element
# that changes, some 30 times where a view is opened, and asks the browser for a style of each line
# and text that it draws.
FEWER_STEPS = Path(__file__).with_suffix(".js")


def application_of(server):
    """Return the Tornado application of a server.

    Rules that are added to it see a request before Bokeh's handlers. Without them, the server does
    not check who enters.
    """
    return server._tornado
