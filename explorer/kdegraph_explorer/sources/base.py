"""What a source of data is."""

import param


class Source(param.Parameterized):
    """A way to get data: parameters, and `load`, which turns them into a dataset.

    To add one, write a subclass in a module of this package and put it into `SOURCES`. The controls are made from its parameters: the label
    and the `doc` of each, and `widgets` where the default widget will not do.

    Attributes
    ----------
    key, label : str
        Its name in code and for the user.
    description : str
        A sentence on what it offers.
    controls : tuple of str
        Names of the parameters that the user sets, in order.
    widgets : dict
        Name of a parameter to the widget (a class, or a dict with "type" and the widget's options) that sets it.
    """

    key = ""
    label = ""
    description = ""
    controls = ()
    widgets = {}

    @property
    def ready(self):
        """Whether there is something to load."""
        return True

    def load(self):
        """Make the data. Called in a worker thread; the parameters do not change meanwhile, for it is called on a copy.

        Returns
        -------
        Dataset

        Raises
        ------
        ValueError
            Says what is wrong with the data and what to do.
        """
        raise NotImplementedError

    def loaded(self, snapshot):
        """Take over what `load` found out on the copy. Called on the session's thread."""
