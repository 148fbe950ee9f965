"""Log what a client did wrong in one line, and faults of the program with their traceback."""

import logging
import traceback

from tornado.websocket import WebSocketClosedError

LOGGERS = (
    *("asyncio", "bokeh.server.protocol_handler"),
    *("bokeh.server.views.ws", "tornado.application"),
)
# Modules that read what arrives. Callbacks run in others.
READERS = ("asyncio", "bokeh", "json", "tornado")  # and panel.io.server


def shorten(record):
    """Shorten the record of an error that a client has caused: a filter of `logging`. A page that
    has gone is no more than information.
    """
    error = record.exc_info and record.exc_info[1]
    if not error or not is_of_client(error):
        return True
    # Bokeh (3.9) asserts that a connection has its session, which fails for a page that has gone.
    asserted = isinstance(error, AssertionError)
    has_gone = asserted and _modules(error)[-1] == "bokeh.server.connection"
    if has_gone or isinstance(error, WebSocketClosedError):
        record.levelno = logging.INFO
        record.msg = "a page has gone while a message was on its way to it, or from it"
    else:
        record.levelno = logging.WARNING
        record.msg = f"a message of a page cannot be read: {error!r:.200}"
    record.levelname, record.args, record.exc_info = logging.getLevelName(record.levelno), (), None
    return logging.getLogger(record.name).isEnabledFor(record.levelno)


def is_of_client(error):
    """Return whether an error was raised where messages are read or sent, and not by what follows.

    Bokeh (3.9) raises errors of many types for messages that no page sends.
    """
    if isinstance(error, WebSocketClosedError):
        return True
    modules = _modules(error)
    return bool(modules) and all(
        name == "panel.io.server" or name.partition(".")[0] in READERS for name in modules
    )


def _modules(error):
    """Return the names of the modules that an error has passed, the one that raised it last."""
    return [frame.f_globals["__name__"] for frame, _ in traceback.walk_tb(error.__traceback__)]


def log_client_errors_in_a_line():
    """Do so for the servers of this process."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(shorten)
