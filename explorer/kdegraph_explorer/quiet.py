"""Setting up without a trace in the output of a notebook's cell."""

import sys
from contextlib import nullcontext


def quietly():
    """A context in which Panel may set itself up without leaving its scripts, 6 MB, in the output
    of the cell: an explorer brings them along where it is shown.
    """
    if "IPython" not in sys.modules:
        return nullcontext()
    from IPython import get_ipython
    from IPython.utils.capture import capture_output

    if get_ipython() is None:
        return nullcontext()
    return capture_output(stdout=False, stderr=False, display=True)
