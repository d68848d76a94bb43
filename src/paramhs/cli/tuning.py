"""Output redirection and signal handling for commands that run a target."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import FrameType
from typing import TextIO, cast

from paramhs.cli.console import Shown, again, say

INTERRUPTED_CODE = 130


@contextmanager
def tuning() -> Iterator[None]:
    """Redirect everything the target prints to standard error; the result owns standard output.

    Text printed by Python is made printable. Text that a library or a process writes directly to
    the file descriptor is not; that would need another process in between, for code that is the
    user's own.

    A second Ctrl-C ends the process, because threads that run the target cannot be waited for.
    SIGTERM is handled like Ctrl-C.
    """
    before = signal.signal(signal.SIGTERM, _as_ctrl_c)
    shown = cast(TextIO, Shown(sys.stderr))
    try:
        with _on_standard_error(), redirect_stdout(shown), redirect_stderr(shown):
            yield
    except KeyboardInterrupt:
        say(f"Stopped immediately; all stored runs are kept. Resume with: {again()}", err=True)
        sys.stdout.flush()
        os._exit(INTERRUPTED_CODE)
    finally:
        signal.signal(signal.SIGTERM, before)


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """Handle SIGTERM like Ctrl-C, even where Ctrl-C is ignored, as in a shell's background."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        raise KeyboardInterrupt
    handler(signal.SIGINT, frame)


@contextmanager
def _on_standard_error() -> Iterator[None]:
    """Redirect file descriptor 1, which processes started by the target inherit."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # there is no standard output to protect
        yield
        return
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
