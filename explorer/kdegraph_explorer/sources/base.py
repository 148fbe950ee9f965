"""The base class of all sources of data."""

from typing import ClassVar

import param

from ..checks import as_code, as_indices, as_text, at, check_values, runs


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
        table of columns), "none" (another control of the source sets it) or a dictionary from
        headings to the options below them.
    same_points : tuple of str
        Names of the controls that leave the points what they are, and change only what is taken of
        each: a chosen part of the points remains.
    """

    key = ""
    label = ""
    controls: tuple[str, ...] = ()
    widgets: ClassVar[dict] = {}
    same_points: tuple[str, ...] = ()

    part = param.String(
        default="",
        doc="The points that are explored, as indices and ranges such as '0-5,7'; empty for all.",
    )

    @property
    def kept(self):
        """The names of all parameters that undo, the address and session files restore."""
        return (*self.controls, "part")

    def part_loader(self):
        """What makes the dataset of the points that are explored: like `loader`, or None."""
        load, part = self.loader(), self.part
        if load is None or not part:
            return load

        def load_part():
            dataset = load()
            return dataset.subset(as_indices(part, dataset.n_points))

        return load_part

    def choose_part(self, points):
        """Explore only these of the points that are explored now; None for all there are."""
        if points is None:
            self.part = ""
        elif len(points):
            self.part = as_text(at(self.part, points) if self.part else points)

    def after(self, changed):
        """Called when the user has changed parameters of these names: other points have no part."""
        if not set(changed) <= {"part", *self.same_points}:
            self.part = ""

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
        return {name: getattr(self, name) for name in self.kept}

    def restore(self, data):
        """Set the parameters to what `recall` has returned or `checked` has accepted."""
        self.param.update(**data)

    def defaults(self):
        """What `recall` returns before anything was chosen."""
        return {name: self.param[name].default for name in self.kept}

    def checked(self, data):
        """Check parameters from outside, and add the defaults of those that are missing.

        Raises
        ------
        ValueError
            For a name that does not exist or a value that cannot be.
        """
        runs(data.get("part", ""))
        return {**self.defaults(), **check_values(type(self), data, self.kept)}

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

    def program(self, data, dataset):
        """The lines of `script`, for the part of the points that is explored."""
        lines = self.script(data, dataset)
        if data["part"] and type(self).script is not Source.script:  # else it reads only these
            lines.append(f"data = data.subset({as_code(data['part'])})")
        return lines

    def sized(self, n):
        """A loader, as `loader` returns one, for `n` points of the same kind, or None if that is
        not possible.
        """

    def settle(self):
        """Called on the session's thread after each load, successful or not, to take over what the
        loader found out.
        """
