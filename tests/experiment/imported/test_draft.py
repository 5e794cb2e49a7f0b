"""Experiments that are written."""

from __future__ import annotations

import yaml

from testbed.experiment.imported.draft import Draft


def test_blocks_with_comments() -> None:
    draft = Draft("made")
    draft.put("rack", {"kind": "star"}, "one switch")
    draft.put("rack.link.rate", "1 Gbit/s", "slow")
    draft.put("controller", "swift")
    draft.left_out.append("COLOUR red")
    assert yaml.safe_load(draft.text()) == {
        "rack": {"kind": "star", "link": {"rate": "1 Gbit/s"}},
        "controller": "swift",
    }
    assert draft.text() == (
        "# made\n\n# one switch\n# slow\nrack:\n  kind: star\n  link:\n    rate: 1 Gbit/s\n\ncontroller: swift\n\n"
        "# Left out:\n# * COLOUR red\n"
    )
