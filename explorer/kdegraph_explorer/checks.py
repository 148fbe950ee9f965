"""Values that come from outside: an address, a session file."""

import param


def check_values(kind, values, allowed):
    """The values of parameters of a class, after they were tried on an object that nobody sees.

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
            raise ValueError(f"there is nothing called {name!r} to set; there is {', '.join(allowed)}")
        parameter = trial.param[name]
        if type(parameter) is param.Selector and parameter.objects == [""]:
            parameter.objects = [value]  # what there is to choose from follows from the data
        try:
            if isinstance(parameter, param.Number) and isinstance(value, bool):
                raise ValueError("a number is needed")
            setattr(trial, name, value)
        except (ValueError, TypeError):
            raise ValueError(f"{name} cannot be {value!r}: {parameter.doc}") from None
    return dict(values)
