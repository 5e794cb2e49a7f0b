#!/usr/bin/python
"""A gate between two waves of a rollout, asked on the controller."""

from __future__ import annotations

DOCUMENTATION = """
module: testbed_gate
short_description: Do Prometheus queries allow a rollout to go on?
description:
  - Reads only. Fails with every query whose answer is not within its bounds, or that has no answer.
  - Asks again for series that are not there, as after a missed scrape; a value that is there decides at once.
options:
  prometheus: {description: URL of Prometheus., type: str, required: true}
  gates:
    description: Queries, each with least, most or both, and the number of series (1).
    type: list
    elements: dict
    required: true
  hold: {description: "Compare the answers with the bounds, or only check that there are answers.", type: bool}
  patience: {description: Seconds in which to ask again for missing series., type: float}
author: The testbed authors
"""

EXAMPLES = """
- name: No host drifts
  testbed_gate:
    prometheus: http://192.0.2.1:9090
    gates:
      - query: testbed_setting_drift
        most: 0
"""

RETURN = """
failures: {description: What is not within its bounds., type: list, returned: always}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.lab_settings import gate
from ansible.module_utils.testbed_module import told

GATES = {
    "type": "list",
    "elements": "dict",
    "required": True,
    "options": {
        "query": {"type": "str", "required": True},
        "least": {"type": "float"},
        "most": {"type": "float"},
        "series": {"type": "int", "default": 1},
    },
}


def main() -> None:
    """Ansible calls this on the controller."""
    spec = {
        "prometheus": {"type": "str", "required": True},
        "gates": GATES,
        "hold": {"type": "bool", "default": True},
        "patience": {"type": "float", "default": 0.0},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    failures: list[str] = []
    with told(module, failures=[]):
        gates = [gate.Gate(**one) for one in module.params["gates"]]
        if module.params["hold"]:
            failures = gate.failures(module.params["prometheus"], gates, module.params["patience"])
        else:
            for one in gates:
                gate.ask(module.params["prometheus"], one.query)
    if failures:
        module.fail_json(msg="; ".join(failures), failures=failures)
    module.exit_json(changed=False, failures=[])


if __name__ == "__main__":
    main()
