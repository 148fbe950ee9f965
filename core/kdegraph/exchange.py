"""Write graphs for other programs, as GraphML and GEXF.

Both are XML. Graphs have millions of edges, so their lines are formatted block by block, without a
tree of elements.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import starmap
from os import PathLike
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import scipy.sparse
from numpy.typing import ArrayLike

from kdegraph.runtime.replacing import writing
from kdegraph.spectral.checked_graph import AdjacencyLike, check_adjacency, graph_parts
from kdegraph.validation import as_array

BLOCK = 20_000  # edges that are formatted at a time
TYPES = {"b": "boolean", "i": "long", "u": "long", "f": "double", "U": "string", "O": "string"}
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
PROLOG = '<?xml version="1.0" encoding="UTF-8"?>\n'


def export_graph(
    path: str | PathLike[str],
    graph: AdjacencyLike,
    *,
    attributes: Mapping[str, ArrayLike] | None = None,
) -> None:
    """Write a graph as GraphML (for NetworkX, igraph, Cytoscape, yEd) or as GEXF (for Gephi).

    Parameters
    ----------
    path : path-like
        The file, which is overwritten if it exists. Its name ends with ".graphml" or ".gexf".
    graph : SimilarityGraph, sparse or dense (n, n) matrix, or graph of NetworkX or igraph
        Symmetric weights, finite and >= 0.
    attributes : mapping of str to (n,) array-like, optional
        Values for the vertices, by name: numbers, truth values or text, such as labels or
        coordinates. NaN, and None among text, stand for missing values.

    Raises
    ------
    ValueError, TypeError
        For a path with another ending, a matrix that is not an adjacency matrix (see `spectrum`),
        or attributes of another length or kind.
    OSError
        If the file cannot be written. Whenever an error is raised, `path` stays as it was.

    Notes
    -----
    The vertices have the numbers of the points, from 0, as identifiers, and every edge is written
    once, with all digits of its weight. Characters that XML does not allow become U+FFFD.

    Cost: O(number of edges) of time, about 80 bytes of the file for each edge, and a copy of half
    of the matrix in memory.

    Examples
    --------
    >>> import kdegraph, pathlib, tempfile
    >>> graph = kdegraph.similarity_graph([[0.0], [1.0]], sigma=1.0, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "graph.graphml"
    ...     kdegraph.export_graph(path, graph, attributes={"label": ["left", "right"]})
    ...     path.read_text().count("<edge ")
    1
    """
    path = Path(path)
    formats = {".graphml": _graphml, ".gexf": _gexf}
    if path.suffix.lower() not in formats:
        raise ValueError(f"path must end with .graphml or .gexf, got {path.name!r}")
    check_adjacency(graph, "graph")
    matrix = scipy.sparse.coo_array(graph_parts(graph).adjacency)
    upper = scipy.sparse.triu(matrix, format="coo")
    upper.eliminate_zeros()
    known = [
        _check_attribute(name, values, upper.shape[0])
        for name, values in (attributes or {}).items()
    ]
    with writing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(formats[path.suffix.lower()](upper, known))


def _check_attribute(name, values, n):
    """Return the name and the type of an attribute in the file, and its values as an array."""
    if not isinstance(name, str):
        raise TypeError(f"attributes must have names of type str, got {name!r}")
    array = as_array(values, f"attributes[{name!r}]")
    if array.shape != (n,):
        raise ValueError(
            f"attributes[{name!r}] must have one value per vertex, shape ({n},), "
            f"got shape {array.shape}"
        )
    if array.dtype.kind not in TYPES:
        raise TypeError(
            f"attributes[{name!r}] must hold numbers, truth values or text, got {array.dtype}"
        )
    return _clean(name), TYPES[array.dtype.kind], array


def _graphml(upper, attributes):
    """Yield the parts of a GraphML file."""
    yield PROLOG + '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield '<key id="weight" for="edge" attr.name="weight" attr.type="double"/>\n'
    for i, (name, kind, _) in enumerate(attributes):
        yield f'<key id="d{i}" for="node" attr.name={quoteattr(name)} attr.type="{kind}"/>\n'
    yield '<graph edgedefault="undirected">\n'
    for number, values in _vertices(attributes, upper.shape[0]):
        data = "".join(f'<data key="d{i}">{escape(value)}</data>' for i, value in values)
        yield f'<node id="{number}">{data}</node>\n'
    line = '<edge source="{}" target="{}"><data key="weight">{!r}</data></edge>\n'
    yield from _edges(upper, line)
    yield "</graph>\n</graphml>\n"


def _gexf(upper, attributes):
    """Yield the parts of a GEXF file."""
    yield PROLOG + '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">\n'
    yield '<graph defaultedgetype="undirected" mode="static">\n<attributes class="node">\n'
    for i, (name, kind, _) in enumerate(attributes):
        yield f'<attribute id="{i}" title={quoteattr(name)} type="{kind}"/>\n'
    yield "</attributes>\n<nodes>\n"
    for number, values in _vertices(attributes, upper.shape[0]):
        data = "".join(f'<attvalue for="{i}" value={quoteattr(value)}/>' for i, value in values)
        yield f'<node id="{number}" label="{number}"><attvalues>{data}</attvalues></node>\n'
    yield "</nodes>\n<edges>\n"
    yield from _edges(upper, '<edge source="{}" target="{}" weight="{!r}"/>\n')
    yield "</edges>\n</graph>\n</gexf>\n"


def _vertices(attributes, n) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Yield the number of every vertex, and its pairs (number of an attribute, text)."""
    columns = [list(_texts(kind, values)) for _, kind, values in attributes]
    for number in range(n):
        texts = ((i, column[number]) for i, column in enumerate(columns))
        yield number, [(i, text) for i, text in texts if text is not None]


def _texts(kind, array):
    """Yield the values of an attribute as XML Schema writes them, and None for missing ones."""
    values = array.tolist()
    if kind == "double":
        special = {"nan": None, "inf": "INF", "-inf": "-INF"}
        return (special.get(text, text) for text in map(repr, values))
    if kind == "string":
        return (None if text is None else _clean(str(text)) for text in values)
    return (str(value).lower() for value in values)


def _clean(text):
    return NOT_XML.sub("\ufffd", text)  # Unicode's replacement character


def _edges(upper, line):
    """Yield the lines of all edges; the template `line` takes source, target and weight."""
    for start in range(0, upper.nnz, BLOCK):
        part = slice(start, start + BLOCK)
        parts = upper.coords[0][part], upper.coords[1][part], upper.data[part]
        rows = zip(*(column.tolist() for column in parts), strict=True)
        yield "".join(starmap(line.format, rows))
