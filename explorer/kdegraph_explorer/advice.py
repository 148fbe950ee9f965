"""What may be wrong with the KDE graph, and which controls mend it, in words."""

from .sources.upload import Upload
from .state import State


def advice(state):
    """Sentences on the KDE graph that is shown.

    Parameters
    ----------
    state : State

    Returns
    -------
    list of str
        Text, with names of columns as they are in the data; empty for most graphs.
    """
    outcome = state.outcome("kde")
    if outcome is None:
        return []
    return [
        f"{finding.observation[0].upper()}{finding.observation[1:]}. "
        f"{_remedy(finding.problem, state.result.request, state.source)}"
        for finding in outcome.findings
    ]


def _remedy(problem, request, source):
    """What to do in the explorer about a problem of `kdegraph.Finding`."""
    if problem == "columns":
        other = f", or choose others under {_label('columns', Upload)}" * (source == Upload.key)
        return f"Standardize the columns or take the same unit for all{other}."
    size = "smaller" if problem == "wide" else "larger"
    if request.is_local:
        ways = [f"choose a {size} {_label('perplexity')}"]
    elif request.sigma in ("auto", "preset"):
        ways = [f"choose a {size} {_label('sigma')}"]
    else:
        ways = [f"tick {_label('sigma_auto')}"]
    if problem == "parts":
        ways.append(f"choose more {_label('n_clusters')}")
    elif not request.is_local:
        each = next(
            label for label, value in State.param.bandwidth.names.items() if value == "local"
        )
        ways.append(f"choose “{each}” under {_label('bandwidth')}")
    words = " or ".join(ways)
    return f"{words[0].upper()}{words[1:]}."


def _label(name, of=State):
    """The label of a control, in quotation marks."""
    return f"“{of.param[name].label}”"
