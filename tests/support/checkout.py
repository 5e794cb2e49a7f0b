"""Where the checkout is that the tests are of."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
