"""How commands end: exit codes, one line for each error, no traceback."""

import errno
import os
import sys
import warnings

import click

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
TRACEBACK_VARIABLE = "KDEGRAPH_TRACEBACK"
_USER_ERRNO = (
    errno.ENOENT,
    errno.EACCES,
    errno.EPERM,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.EROFS,
    errno.EADDRINUSE,
    errno.EADDRNOTAVAIL,
)


class Failure(click.ClickException):
    """The job cannot be done for a reason that is not the input's fault; ends with status 1."""

    exit_code = FAILED


def describe(error):
    """What to tell of an exception: (exit code, one line)."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return INTERRUPTED, "Interrupted."
    if isinstance(error, Failure):
        return FAILED, f"Error: {error.format_message()}"
    if isinstance(error, click.UsageError):
        hint = f" (see {error.ctx.command_path} --help)" if error.ctx is not None else ""
        return BAD_INPUT, f"Error: {error.format_message()}{hint}"
    if isinstance(error, click.ClickException):
        return BAD_INPUT, f"Error: {error.format_message()}"
    if isinstance(error, ValueError):
        return BAD_INPUT, f"Error: {error}"
    if isinstance(error, MemoryError):
        return BAD_INPUT, f"Error: not enough memory: {error or 'take fewer points'}"
    if isinstance(error, OSError) and error.errno in _USER_ERRNO:
        return (
            BAD_INPUT,
            f"Error: {error.filename or ''}{': ' if error.filename else ''}{error.strerror}",
        )
    return (
        FAILED,
        f"Error: {type(error).__name__}: {error} (unexpected; set {TRACEBACK_VARIABLE}=1 to see where it comes from)",
    )


def _warn(message, category, filename, lineno, file=None, line=None):
    click.echo(f"Warning: {' '.join(str(message).split())}", err=True)


class Program(click.Group):
    """A group of commands that ends as documented: 0 done, 2 wrong usage or bad input, 1 any other
    failure, 130 interrupted.
    """

    def main(self, args=None, prog_name=None, complete_var=None, standalone_mode=True, **extra):
        """Run a command and leave the process (unless not `standalone_mode`)."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        shown, warnings.showwarning = warnings.showwarning, _warn
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except BrokenPipeError:  # whoever read the output has gone, e.g. `head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = FAILED
        except (Exception, KeyboardInterrupt) as error:
            if os.environ.get(TRACEBACK_VARIABLE):
                raise
            code, line = describe(error)
            click.echo(" ".join(line.split()), err=True)
        finally:
            warnings.showwarning = shown
        sys.exit(code if isinstance(code, int) else DONE)
