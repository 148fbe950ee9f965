"""Tell changes that a program makes by itself from those that the user makes."""


class During:
    """A context that is true while it is entered: ``with during:`` here, and ``if during:`` there.

    What follows a change, such as a watcher, asks it who has made that.
    """

    def __init__(self):
        self._entered = False

    def __enter__(self):
        self._entered = True

    def __exit__(self, *error):
        self._entered = False

    def __bool__(self):
        return self._entered
