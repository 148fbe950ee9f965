"""Hold what a figure draws as rows of a source, a row for each mark."""

from bokeh.models import ColumnDataSource


def no_marks(*names):
    """Return a source with these columns and no row."""
    return ColumnDataSource({name: [] for name in names})


def set_marks(source, rows=()):
    """Have a source hold these rows alone, each with a value for every column, or none."""
    columns = zip(*rows, strict=True) if rows else [[]] * len(source.data)
    source.data = dict(zip(source.data, map(list, columns), strict=True))
