"""Commands of the host: argument lists, never a shell, always with an end."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from .errors import LabError

PATIENCE = 60.0  # s; a firmware query may take several


@dataclass(frozen=True)
class Done:
    """A command that ended."""

    status: int
    out: str
    err: str


def call(*argv: str, patience: float = PATIENCE) -> Done:
    """Run a command whose exit status says nothing (``dcb``). Raises LabError if it cannot start or does not end."""
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=patience, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise LabError(f"command {argv[0]} is not installed on this host") from None
    except OSError as error:
        raise LabError(f"command {argv[0]} cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise LabError(f"{' '.join(argv)}: did not end within {patience:g} s") from None
    return Done(done.returncode, done.stdout, done.stderr)


def run(*argv: str) -> str:
    """Run a command and return what it printed. Raises LabError with its output if it fails."""
    done = call(*argv)
    if done.status:
        output = (done.err or done.out).strip()
        raise LabError(f"{' '.join(argv)}: exit status {done.status}: {output}")
    return done.out
