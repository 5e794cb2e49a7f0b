"""Settings that are not as the rollout wants them. One that cannot be read counts as drift."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.engines.lab.exporter.documents import DeviceRegisters, Rollout, State, WantedSetting
from testbed.engines.lab.exporter.files import Files, whole

ONLY_ROOT_READS = "/cc_params/"


def drift(
    files: Files, rollout: Rollout, state: State | None, registers: dict[str, DeviceRegisters]
) -> Iterator[tuple[str, str, bool]]:
    """Device, name of the setting, and whether it differs; of the policy the device is empty."""
    if rollout.policy:
        installed = state.policy if state else None
        yield "", "policy", installed is None or installed.sha256 != rollout.policy.sha256
    for device, wanted in sorted(rollout.devices.items()):
        known = registers.get(device, DeviceRegisters())
        for name, setting in sorted(wanted.settings.items()):
            yield device, name, not _is_set(files, setting, known)
        if wanted.pcc:
            slot = known.pcc.get(str(wanted.pcc.slot))
            inside = slot.parameters if slot else {}
            for name, value in sorted(wanted.pcc.parameters.items()):
                yield device, f"pcc/{name}", inside.get(name) != value


def _is_set(files: Files, setting: WantedSetting, known: DeviceRegisters) -> bool:
    if ONLY_ROOT_READS in setting.path:
        value = known.cc_params.get(setting.path.rpartition("/")[2])
        return value is not None and value == whole(setting.value.strip())
    text = files.read(setting.path)
    return text is not None and equal(text, setting.value.strip())


def equal(found: str, wanted: str) -> bool:
    """As text, or as numbers; some files have ``Global tclass=106`` for 106."""
    found = found.rpartition("=")[2].strip()
    numbers = whole(found), whole(wanted)
    return found == wanted if None in numbers else numbers[0] == numbers[1]
