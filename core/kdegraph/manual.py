"""Name the entries of the manual's page of questions that explain warnings and errors."""


def see(name: str) -> str:
    """Return a remark that names an entry."""
    return f"(see faq.html#{name} in the manual)"


def explained(kind: type[Exception], name: str, message: str) -> Exception:
    """Return an error with a note below its message, which says where the manual explains it."""
    error = kind(message)
    error.add_note(see(name))
    return error
