"""ansible-playbook, once for all plays of a lab: each is a fork of a process that has imported it.

What it knows of plugins is there for all plays: to read it takes each a quarter of a second. What it packs of a module
for the hosts is kept, too: packing parses all that a module imports, which takes as long for each module of a playbook.
And what asks no host anything is not forked once more for each host.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import sys
import warnings
from importlib import import_module
from pathlib import Path

from ansible._internal import _task
from ansible.cli.playbook import main
from ansible.executor.process.worker import WorkerProcess
from ansible.executor.task_executor import TaskExecutor
from ansible.executor.task_result import _RawTaskResult
from ansible.plugins import loader, strategy
from ansible.release import __version__

from ansible import constants

ON_CONTROLLER = {
    "assert",
    "debug",
    "fail",
    "include_role",
    "include_tasks",
    "set_fact",
    "testbed_keep",
    "validate_argument_spec",
}


class Worker(WorkerProcess):  # type: ignore[misc]
    """What does a task for a host: a fork, unless the task only looks at variables. Most of a rollout's do.

    A fork costs ten times as much as such a task: Python writes to all it looks at, so that both copy their memory.
    """

    def start(self) -> None:
        if self._task.action.removeprefix("ansible.builtin.") not in ON_CONTROLLER:
            super().start()
            return
        task = self._task.copy(exclude_parent=True, exclude_tasks=True)  # a fork has its own
        task._parent = self._task._parent
        with _task.TaskContext(task):
            done = TaskExecutor(
                self._host, task, dict(self._task_vars), self._play_context, self._loader, self._shared_loader_obj,
                self._final_q, self._variable_manager,
            ).run()  # fmt: skip
            self._final_q.send_task_result(_RawTaskResult(self._host, task, done, task.dump_attrs()))


def know_plugins() -> None:
    """Where they are, and what can be set of those that each play asks for at its start."""
    loader.init_plugin_loader()
    warnings.filterwarnings("ignore", "AnsibleCollectionFinder has already been configured")
    import_module("ansible_collections.ansible.builtin")
    for kind in ("become", "callback", "connection", "shell"):
        list(getattr(loader, f"{kind}_loader").all(class_only=True))


def packed_of(sources: Path) -> Path:
    """Where the modules are kept that these sources and this Ansible make."""
    digest = hashlib.sha256(f"{__version__} {sys.version}".encode())
    for file in sorted([*sources.glob("library/*.py"), *sources.glob("module_utils/**/*.py")]):
        digest.update(f"{file.relative_to(sources)}\0".encode() + file.read_bytes())
    return Path(os.environ["LAB_PYCACHE"]) / f"packed-{digest.hexdigest()[:16]}"


def play(arguments: list[str], files: list[str]) -> None:
    """In the fork; ``files``: for stdout and stderr. Never returns."""
    for number, name in enumerate([os.devnull, *files]):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.argv = ["ansible-playbook", *arguments]
    code: object = 1
    try:
        main()
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)  # not sys.exit: what is removed at an end, the next one needs


if __name__ == "__main__":
    kept = packed_of(Path.cwd())
    kept.mkdir(exist_ok=True)
    (Path(constants.DEFAULT_LOCAL_TMP) / "ansiballz_cache").symlink_to(kept)
    strategy.WorkerProcess = Worker
    know_plugins()
    gc.disable()  # a tenth of a play's time, and its workers need not copy what it looks at
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            play(**json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
