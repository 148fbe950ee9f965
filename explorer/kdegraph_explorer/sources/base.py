"""The base class of all sources of data."""

from typing import ClassVar

import param

from ..checks import check_values


class Source(param.Parameterized):
    """A way to get data: parameters, and what makes a dataset of them.

    To add one, write a subclass in a module of this package and put it into `SOURCES`. Its controls
    are made from its parameters, with the label and the `doc` of each.

    Attributes
    ----------
    key, label : str
        Its name in code and for the user.
    controls : tuple of str
        Names of the parameters that the user sets, in order; a change of one of them loads the data
        anew.
    widgets : dict
        Name of a parameter to a hint for its widget where the default will not do: "steps" (a
        slider over the values to choose from), "file" (a file from the user's disk), "columns" (the
        table of columns) or "none" (another control of the source sets it).
    """

    key = ""
    label = ""
    controls: tuple[str, ...] = ()
    widgets: ClassVar[dict] = {}

    def applicable(self):
        """The controls that are meaningful at present."""
        return self.controls

    def loader(self):
        """What makes the dataset of the present parameters.

        Returns
        -------
        callable or None
            Takes nothing, returns a `kdegraph.datasets.Dataset`, and is called in a worker thread,
            so it must not read the parameters. It raises ValueError with what is wrong and what to
            do. None when there is nothing to load yet.
        """
        raise NotImplementedError

    def recall(self):
        """The present parameters by name, as plain values: what `restore` restores."""
        return {name: getattr(self, name) for name in self.controls}

    def restore(self, data):
        """Set the parameters to what `recall` has returned or `checked` has accepted."""
        self.param.update(**data)

    def defaults(self):
        """What `recall` returns before anything was chosen."""
        return {name: self.param[name].default for name in self.controls}

    def checked(self, data):
        """Check parameters from outside, and add the defaults of those that are missing.

        Raises
        ------
        ValueError
            For a name that does not exist or a value that cannot be.
        """
        return {**self.defaults(), **check_values(type(self), data, self.controls)}

    def addressed(self, data):
        """The part of what `recall` has returned that an address can hold."""
        return data

    def portable(self, data, dataset):
        """What `recall` has returned and the dataset made of it, for a session file: the key of a
        source, and values for JSON.
        """
        return self.key, data

    def unpack(self, data):
        """What `portable` has returned, as `recall` does.

        Raises
        ------
        ValueError
        """
        return data

    def script(self, data, dataset):
        """Lines of Python that make `data`, a dataset like the given one, of what `recall` has
        returned.
        """
        columns = list(map(str, dataset.feature_names))
        return [
            "# The points, as Export > Points, Parquet has written them.",
            f'data = kdegraph.datasets.load("points.parquet", columns={columns!r}, label=None)',
        ]

    def sized(self, n):
        """A loader, as `loader` returns one, for `n` points of the same kind, or None if that is
        not possible.
        """

    def settle(self):
        """Called on the session's thread after each load, successful or not, to take over what the
        loader found out.
        """
