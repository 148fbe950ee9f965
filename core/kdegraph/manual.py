"""Name the entries of the manual's page of questions that explain warnings and errors."""


def entry(name: str) -> str:
    """Return the place of an entry."""
    return f"faq.html#{name}"


def explained(kind: type[Exception], name: str, message: str) -> Exception:
    """Return an error with a note below its message, which says where the manual explains it."""
    error = kind(message)
    error.add_note(f"(see {entry(name)} in the manual)")
    return error
