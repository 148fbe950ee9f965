"""Define the base class of all sources of data."""

from typing import ClassVar

import param

from ..checks import as_code, as_indices, as_text, at, check_values, runs


class Source(param.Parameterized):
    """Make a data set from parameters that the user sets.

    To add a source, write a subclass in a module of this package and put it into `SOURCES`. Its
    controls are made from its parameters, with the label and the `doc` of each.
    """

    key = label = ""  # its name in code and for the user
    # Names of the parameters that the user sets, in order; after a change of one of them the data
    # are loaded again.
    controls: tuple[str, ...] = ()
    # From the name of a parameter to a hint for its widget, if it is not the default one: "none"
    # (another control of the source sets it), or one of those that `views.widgets.control` takes.
    widgets: ClassVar[dict] = {}
    # Names of the controls that change only what is taken of each point: a chosen part of the
    # points remains.
    same_points: tuple[str, ...] = ()
    missing = ""  # what the user is to do where there is nothing to load

    part = param.String(
        doc="The points that are explored, as indices and ranges such as '0-5,7'; empty for all.",
    )

    @property
    def kept(self):
        """Return the names of all parameters that undo, the address and session files restore."""
        return (*self.controls, "part")

    def part_loader(self):
        """Return a loader of the points that are explored, as `loader` does."""
        load, part = self.loader(), self.part
        if load is None or not part:
            return load

        def load_part():
            dataset = load()
            return dataset.subset(as_indices(part, dataset.n_points))

        return load_part

    def choose_part(self, points):
        """Explore only these of the points that are explored now, or all points again (None)."""
        if points is None:
            self.part = ""
        elif len(points):
            self.part = as_text(at(self.part, points) if self.part else points)

    def after(self, changed):
        """Forget the chosen part if the user changed parameters that make other points."""
        if not set(changed) <= {"part", *self.same_points}:
            self.part = ""

    def applicable(self):
        """Return the names of the controls that are meaningful at present."""
        return self.controls

    def loader(self):
        """Return a function that makes the `Dataset` of the present parameters; None if there is
        nothing to load yet.

        It takes no arguments and is called in a worker thread, so it must not read the parameters.
        It raises a ValueError that says what is wrong and what to do.
        """
        raise NotImplementedError

    def sized(self, n):
        """Return a loader for `n` points of the same kind, or None if there is none."""

    def settle(self):
        """Take over what a loader found out; called on the session's thread after each load."""

    def recall(self):
        """Return the present parameters by name, as plain values for `restore`."""
        return {name: getattr(self, name) for name in self.kept}

    def restore(self, data):
        """Set the parameters to what `recall` has returned or `checked` has accepted."""
        self.param.update(**data)

    def defaults(self):
        """Return the default parameters, as `recall` does."""
        return {name: self.param[name].default for name in self.kept}

    def checked(self, data):
        """Check parameters from outside, and add the defaults of those that are missing.

        A name that does not exist and a value that is not allowed raise a ValueError.
        """
        runs(data.get("part", ""))
        return {**self.defaults(), **check_values(type(self), data, self.kept)}

    def addressed(self, data):
        """Return the part of what `recall` has returned that an address can hold."""
        return data

    def portable(self, data, dataset):
        """Return what a session file holds: the key of a source, and values for JSON.

        They stand for what `recall` has returned and the data set that was made of it.
        """
        return self.key, data

    def unpack(self, data):
        """Return the values of `portable` as `recall` does; a ValueError says what is wrong."""
        return data

    def script(self, data, dataset):
        """Return lines of Python that make `data`, a data set like the given one.

        The argument `data` is what `recall` has returned.
        """
        columns = list(map(str, dataset.feature_names))
        return [
            "# The points, as Export > Points, Parquet has written them.",
            f'data = kdegraph.datasets.load("points.parquet", columns={columns!r}, label=None)',
        ]

    def program(self, data, dataset):
        """Return the lines of `script`, for the part of the points that is explored."""
        lines = self.script(data, dataset)
        if data["part"] and type(self).script is not Source.script:  # else it reads only these
            lines.append(f"data = data.subset({as_code(data['part'])})")
        return lines
