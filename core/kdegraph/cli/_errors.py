"""The end of commands: an exit code, and one line for an error instead of a traceback."""

import errno
import os
import sys
import warnings

import click

# Exit codes of commands.
DONE, FAILED, BAD_INPUT = 0, 1, 2
INTERRUPTED = 130  # as shells do: 128 and the number of the signal SIGINT

# An environment variable: if it is set, errors show a traceback.
TRACEBACK_VARIABLE = "KDEGRAPH_TRACEBACK"
# Errors of the operating system that bad input causes.
_USER_ERRNO = (
    *(errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.EROFS),
    *(errno.EADDRINUSE, errno.EADDRNOTAVAIL),
)


class Failure(click.ClickException):
    """An error that the input has not caused; the command ends with status 1."""

    exit_code = FAILED


def describe(error):
    """Return the exit code for an exception and one line about it."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return INTERRUPTED, "Interrupted."
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        code = FAILED if isinstance(error, Failure) else BAD_INPUT
        return code, f"Error: {error.format_message()}{hint}"
    if isinstance(error, ValueError):
        return BAD_INPUT, f"Error: {error}"
    if isinstance(error, MemoryError):
        return BAD_INPUT, f"Error: not enough memory: {str(error) or 'take fewer points'}"
    if isinstance(error, TimeoutError) and not error.strerror:  # of --deadline
        return FAILED, f"Error: {error}"
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        code = BAD_INPUT if error.errno in _USER_ERRNO else FAILED
        return code, f"Error: {place}{error.strerror}"
    advice = f"set {TRACEBACK_VARIABLE}=1 to see where it comes from"
    return FAILED, f"Error: {type(error).__name__}: {error} (unexpected; {advice})"


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
        except BrokenPipeError:  # the reader of the output has ended, such as `head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = FAILED
        except (Exception, KeyboardInterrupt) as error:
            if os.environ.get(TRACEBACK_VARIABLE):
                raise
            code, line = describe(error)
            click.echo(" ".join(line.split()), err=True)
        finally:
            warnings.showwarning = shown
        sys.exit(int(code) if isinstance(code, int) else DONE)
