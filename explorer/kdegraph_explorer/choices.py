"""Hold what the user has chosen in a session, as plain parameters."""

import param
from kdegraph.datasets import Dataset

from .coloring import CLUSTER
from .results import DECIDED

# A parameter, and the parameter that says whether it is chosen automatically.
AUTOMATIC = {"sigma": "sigma_auto", "n_rounds": "rounds_auto", "n_clusters": "clusters_auto"}


class Parameters(param.Parameterized):
    """The parameters of the graphs and of the clustering: what is computed depends on them."""

    sigma = param.Number(
        default=1.0,
        bounds=(0, None),
        inclusive_bounds=(False, True),
        label="Kernel width σ",
        doc="Two points at distance σ have similarity 1/e. "
        "If σ is small, there are many islands; if it is large, everything is connected.",
    )
    sigma_auto = param.Boolean(
        default=True,
        label="auto σ",
        doc="The mean distance of a point to its 10th nearest neighbor, as "
        "kdegraph.estimate_sigma finds it from the points alone.",
    )
    sigma_preset = param.Boolean(
        default=True,
        label="preset σ",
        doc="The value that is stored with these points, as it is known to suit them. "
        "The same points from a file have none.",
    )
    bandwidth = param.Selector(
        default=DECIDED,
        objects={"Auto": DECIDED, "One": "one", "Local": "local", "Moderate": "moderate"},
        label="Bandwidth",
        doc="Whether one kernel width σ serves all points, or each point has its own. Local ones "
        "are narrow where points are dense, and wide where they are sparse. Moderate ones differ "
        "less, so that noise between many points does not hide their clusters. “Auto” takes those "
        "with which the clusters are most stable when neighbors are drawn anew, and the clusters "
        "on which most of these graphs agree, as kdegraph.KDESpectralClustering does.",
    )
    perplexity = param.Integer(
        default=5,
        bounds=(2, 200),
        softbounds=(2, 50),
        label="Perplexity",
        doc="Effective number of neighbors within the kernel width of each point. If it is small, "
        "there are many islands; if it is large, neighboring clusters flow together.",
    )
    n_rounds = param.Integer(
        default=20,
        bounds=(1, 1000),
        softbounds=(1, 60),
        label="Rounds L",
        doc="Neighbors drawn per point. "
        "More rounds give a denser graph that is closer to the full one.",
    )
    rounds_auto = param.Boolean(
        label="auto L",
        doc="As many rounds, from 10 to 100, as bring the eigenvalues within about 10% of those "
        "of the full graph.",
    )
    n_clusters = param.Integer(
        default=2,
        bounds=(1, 100),
        softbounds=(1, 16),
        label="Clusters k",
        doc="Number of groups. The graph and its spectrum are kept when k changes.",
    )
    clusters_auto = param.Boolean(
        default=True,
        label="auto k",
        doc="k is the number of eigenvalues of this KDE graph, as they are plotted, before their "
        "largest gap: the largest ratio of one to the one before, from the second on. It is 1 if "
        "no ratio reaches 5. With the bandwidth “Auto”, graphs of several scales give the "
        "number together. The confidence, from 0 to 1, is how much the gap stands out, and small "
        "where there may be more clusters than eigenvalues; with another kernel width, k may be "
        "another.",
    )
    n_neighbors = param.Integer(
        default=10,
        bounds=(1, 200),
        softbounds=(1, 50),
        label="k-NN neighbors",
        doc="Nearest neighbors per point in the k-NN graph, the usual alternative.",
    )
    seed = param.Integer(
        bounds=(0, 2**32 - 1),
        label="Seed",
        doc="Seed of all random draws of the graph and the clustering. "
        "The same seed gives the same result.",
    )


class Looks(param.Parameterized):
    """What is drawn of a result, and how its clusters are called and edited by hand."""

    horizontal = param.Selector(
        objects=[""],
        label="Horizontal axis",
        doc="Column, principal component (a direction of largest spread), or map (neighbors in the "
        "graph are near each other, all else means little), along which the points lie.",
    )
    vertical = param.Selector(objects=[""], label="Vertical axis", doc=horizontal.doc)
    color = param.String(
        default=CLUSTER,
        label="Color",
        doc="What the colors of the points show: their cluster, their label, or a column.",
    )
    point_size = param.Number(
        default=1.0,
        bounds=(0.25, 4),
        label="Size",
        doc="Size of the points, as a factor of the size that suits their number.",
    )
    point_opacity = param.Number(
        default=1.0, bounds=(0.05, 1), label="Opacity", doc="Opacity of the points."
    )
    cluster_names = param.List(
        label="Names of clusters",
        doc="Pairs of a name and the rows of its points, such as ['bees', '0-5,7'].",
    )
    edits = param.List(
        label="Edits by hand",
        doc="Clusters that were merged or split, such as ['merge', '0-5,7'] or "
        "['split', '0-3', '4-5'], with the rows of their points.",
    )
    fade = param.Boolean(
        default=True,
        label="Fade doubtful points",
        doc="Draw points pale that change their cluster from one sampled graph to another.",
    )
    show_edges = param.Boolean(
        default=True,
        label="Edges",
        doc="Draw the edges: in the color of their cluster, or gray between two clusters.",
    )
    edges = param.Selector(
        default="all",
        objects={
            "All, as density": "all",
            "The strongest": "strongest",
            "Of the selection": "selection",
        },
        label="Which edges",
        doc="All of them, the 3,000 with the largest weights as lines, "
        "or only those at selected points. With a selection, only its edges are drawn.",
    )
    segments = param.Selector(
        default="colors",
        objects={"Cluster colors": "colors", "Mean colors": "means", "Boundaries": "boundaries"},
        label="Segments",
        doc="Each segment of the photograph in the color of its cluster, "
        "in its own mean color, or only its outline.",
    )
    overlay = param.Number(
        default=0.55,
        bounds=(0, 1),
        label="Overlay",
        doc="How strongly the segments cover the photograph.",
    )


def _names(kind):
    """Return the names of all parameters of a class, in order."""
    return [name for name in kind.param if name != "name"]


class Choices(Parameters, Looks):
    """The choices of the user of one session.

    Widgets are built from these parameters. The `doc` of a parameter is the sentence beside its
    control.
    """

    source = param.Selector(objects=[""], label="Source", doc="Where the points come from.")
    dataset = param.ClassSelector(class_=Dataset, doc="The points that are explored.")
    drag = param.Selector(
        default="move",
        objects={"Move": "move", "Box": "box", "Lasso": "lasso"},
        label="Drag",
        doc="What dragging in a plot does: move the window, or select the points in a box "
        "or a lasso. Shift adds to the selection, Ctrl+Shift removes from it.",
    )
    view = param.Selector(
        objects=[""], label="View", doc="Which of the large views is on the screen."
    )
    tour = param.Integer(bounds=(0, 3), doc="The step of the tour that is shown; 0 for none.")
    tables = param.Boolean(label="Tables", doc="Show tables in place of the plots.")

    # What is computed depends on these.
    REQUESTED = ("dataset", *_names(Parameters))
    # Undo, the address and session files restore these.
    KEPT = (*_names(Parameters), *_names(Looks))
