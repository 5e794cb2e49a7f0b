"""Python keeps what it compiled of modules in zip files, too.

Each task of a playbook brings its modules in a new zip, and compiling them is most of what it costs a core. Python
imports this at its start, where PYTHONPATH has this folder; LAB_PYCACHE is where code is kept, by a hash of its source.
"""
# ruff: noqa: PTH104, PTH118, PTH123
# (pathlib would take longer to import than all the rest)

import _imp
import marshal
import os
import zipimport
from importlib.util import MAGIC_NUMBER
from types import CodeType

FOLDER = os.environ["LAB_PYCACHE"]
KEY = int.from_bytes(MAGIC_NUMBER, "little")  # another version of Python has other code
_compile_source = zipimport._compile_source  # type: ignore[attr-defined]


def compile_source(path: str, source: bytes) -> CodeType:
    """In a traceback the path is that of the first zip."""
    kept = os.path.join(FOLDER, f"{_imp.source_hash(KEY, source).hex()}.code")
    try:
        with open(kept, "rb") as file:
            return marshal.load(file)
    except FileNotFoundError:
        code: CodeType = _compile_source(path, source)
    fresh = f"{kept}.{os.urandom(8).hex()}"
    with open(fresh, "xb") as file:
        marshal.dump(code, file)
    os.rename(fresh, kept)
    return code


zipimport._compile_source = compile_source  # type: ignore[attr-defined]
