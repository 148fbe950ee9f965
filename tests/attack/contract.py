"""The contract of every call: the right result, or a refusal in words, and no changed argument."""

import contextlib
import linecache
import re
import traceback
import warnings
from pathlib import Path

import kdegraph
import kdegraph_explorer
import numpy as np
import scipy.sparse
from kdegraph.diagnosis import GraphWarning

PACKAGES = [Path(module.__file__).parent for module in (kdegraph, kdegraph_explorer)]
LONGEST = 700  # characters of a message

REFUSED = object()  # stands for the result of a call that refuses its arguments


def attempt(call, *names, allowed=(ValueError, TypeError, MemoryError)):
    """Return the result of a call, or `REFUSED` if it refuses its arguments in words.

    That is an error which a line of the package raises on purpose, and whose message has one of the
    `names`, for instance those of the arguments. All other errors, and warnings but those about
    graphs, are failures.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", GraphWarning)
        try:
            return call()
        except allowed as error:
            check_refusal(error, names)
            return REFUSED


def check_refusal(error, names=()):
    """Check that an error was raised on purpose, and that its message has one of the names.

    The checks of scikit-learn, which estimators must use, have words of their own.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if any(frame.name in ("validate_data", "check_random_state") for frame in frames):
        return
    place = frames[-1]
    line = linecache.getline(place.filename, place.lineno).strip()
    own = any(Path(place.filename).is_relative_to(package) for package in PACKAGES)
    if not (own and line.startswith("raise")):
        raise AssertionError(f"an accident at {place}: {error!r}") from error
    message = str(error)
    if not 10 < len(message) < LONGEST or "\n\n" in message:
        raise AssertionError(f"not a readable message: {message!r}") from error
    if names and not re.search(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)", message):
        raise AssertionError(f"the message has none of {names}: {message!r}") from error


@contextlib.contextmanager
def unchanged(*arguments):
    """Check that what happens within the block leaves the arguments as they are."""
    before = list(map(_content, arguments))
    yield
    assert list(map(_content, arguments)) == before, "an argument has changed"


def _content(value):
    """Return the numbers and the index arrays of an argument."""
    if scipy.sparse.issparse(value):
        parts = value.tocoo()
        return value.format, parts.shape, parts.data.tobytes(), str(parts.coords)
    return repr(value) if isinstance(value, (list, tuple)) else np.array(value).tolist()
