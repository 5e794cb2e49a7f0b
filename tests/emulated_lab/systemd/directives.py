"""Which settings of a unit file this stand-in knows. Any other is refused, where systemd would warn and go on: a test
must not pass because a setting was overlooked."""

from __future__ import annotations

from tests.emulated_lab.systemd.unitfile import BadUnit, Settings

DONE = {
    "Unit": "Description Documentation After Wants ConditionPathExists StartLimitIntervalSec StartLimitBurst",
    "Install": "WantedBy",
    "Timer": "OnActiveSec OnBootSec OnStartupSec OnUnitActiveSec OnUnitInactiveSec Unit",
    "Service": """
        Type ExecStart ExecStartPre ExecStartPost ExecStop ExecStopPost ExecReload Restart RestartSec RemainAfterExit
        SuccessExitStatus TimeoutStopSec KillMode KillSignal SendSIGKILL User Group WorkingDirectory UMask Environment
        EnvironmentFile StandardOutput StandardError RuntimeDirectory RuntimeDirectoryMode RuntimeDirectoryPreserve
        StateDirectory StateDirectoryMode LogsDirectory LogsDirectoryMode
    """,
}
SANDBOX = """
    NoNewPrivileges CapabilityBoundingSet ProtectSystem PrivateTmp PrivateNetwork ReadWritePaths MemoryDenyWriteExecute
"""
# Read and not enforced: a service that only works because of that would fail under systemd.
READ = """
    ProtectHome ProtectControlGroups ProtectKernelModules ProtectKernelLogs ProtectKernelTunables
    RestrictAddressFamilies RestrictSUIDSGID LockPersonality
"""
VALUES = {
    "Service.Type": ("simple", "exec", "oneshot"),
    "Service.KillMode": ("control-group", "mixed", "process", "none"),
    "Service.Restart": ("no", "always", "on-success", "on-failure", "on-abnormal", "on-abort"),
}
KNOWN = {f"{section}.{key}" for section, keys in DONE.items() for key in keys.split()}
KNOWN |= {f"Service.{key}" for key in (SANDBOX + READ).split()}


def check(name: str, settings: Settings) -> None:
    """Raises BadUnit that names what this stand-in does not know."""
    for path, values in settings.items():
        if path not in KNOWN:
            raise BadUnit(f"{name}: {path}= is not known to this lab (tests/emulated_lab/systemd/directives.py)")
        strange = [value for value in values if value not in VALUES.get(path, (value,))]
        if strange:
            raise BadUnit(f"{name}: {path}={strange[0]}: this lab knows {', '.join(VALUES[path])}")
