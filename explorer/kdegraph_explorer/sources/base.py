"""What a source of data is."""

from typing import ClassVar

import param


class Source(param.Parameterized):
    """A way to get data: parameters, and what makes a dataset of them.

    To add one, write a subclass in a module of this package and put it into `SOURCES`. Its controls are made from its parameters, with the
    label and the `doc` of each.

    Attributes
    ----------
    key, label : str
        Its name in code and for the user.
    controls : tuple of str
        Names of the parameters that the user sets, in order; a change of one of them loads the data anew.
    widgets : dict
        Name of a parameter to a hint for its widget where the default will not do: "steps" (a slider over the values to choose from) or
        "file" (a file from the user's disk).
    """

    key = ""
    label = ""
    controls = ()
    widgets: ClassVar[dict] = {}

    def applicable(self):
        """The controls that have a meaning at present."""
        return self.controls

    def loader(self):
        """What makes the dataset of the present parameters.

        Returns
        -------
        callable or None
            Takes nothing, returns a `kdegraph.datasets.Dataset`, and is called in a worker thread, so it must not read the parameters. It
            raises ValueError with what is wrong and what to do. None when there is nothing to load yet.
        """
        raise NotImplementedError

    def settle(self):
        """Called on the session's thread after each load, successful or not: take over what the loader found out."""
