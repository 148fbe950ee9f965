"""Memory of ended sessions is returned to the system.

glibc serves threads from arenas of their own. What a session has freed there is no use to the
others, and stays with the process until somebody asks for it to be given back.
"""

import ctypes
import gc
import threading

# Seconds: the server lets go of a session some time after it has said that it ends, and of many at
# a time.
DELAY = 3.0
_lock = threading.Lock()
_timer = None


def give_back_soon():
    """Call `give_back` in a thread, a little later, once for all calls until then."""
    global _timer
    with _lock:
        if _timer is None:
            _timer = threading.Timer(DELAY, _give_back)
            _timer.daemon = True
            _timer.start()


def give_back():
    """Collect garbage, and return free pages to the system."""
    gc.collect()
    malloc_trim()(0)


def malloc_trim():
    """The function of this name in the C library, or one that does nothing where there is none
    (only glibc has it).
    """
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda pad: 0


def _give_back():
    global _timer
    with _lock:
        _timer = None
    give_back()
