"""Values that come from outside: an address, a session file."""

import reprlib

import param

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 200


def quoted(value):
    """A value from outside for messages: its `repr`, shortened in the middle if it is long."""
    return _short.repr(value)


def check_values(kind, values, allowed):
    """Check values of parameters of a class by assigning them to a new object.

    Parameters
    ----------
    kind : subclass of param.Parameterized
    values : dict
    allowed : sequence of str
        The names that may occur.

    Raises
    ------
    ValueError
    """
    trial = kind()
    for name, value in values.items():
        if name not in allowed:
            known = ", ".join(allowed)
            raise ValueError(f"there is nothing called {quoted(name)} to set; there is {known}")
        parameter = trial.param[name]
        open_choice = type(parameter) is param.Selector and parameter.objects == [""]
        if open_choice and isinstance(value, str):
            parameter.objects = [value]  # what there is to choose from follows from the data
        try:
            if isinstance(parameter, param.Number) and isinstance(value, bool):
                raise ValueError("a number is needed")
            setattr(trial, name, value)
        except (ValueError, TypeError):
            raise ValueError(f"{name} cannot be {quoted(value)}: {_allowed(parameter)}") from None
    return dict(values)


def _allowed(parameter):
    """What a parameter may be, in words."""
    if isinstance(parameter, param.Boolean):
        return "it must be true or false"
    if isinstance(parameter, param.Selector):
        return f"it must be one of {', '.join(map(str, parameter.objects))}"
    if not isinstance(parameter, param.Number) or parameter.bounds is None:
        return parameter.doc
    kind = "a whole number" if isinstance(parameter, param.Integer) else "a number"
    low, high = parameter.bounds
    if high is None:
        return f"it must be {kind} {'from' if parameter.inclusive_bounds[0] else 'above'} {low:,}"
    return f"it must be {kind} from {low:,} to {high:,}"
