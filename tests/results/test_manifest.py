"""What a run says of itself."""

from __future__ import annotations

import json
import os

from testbed.results.manifest import Manifest


def test_the_manifest_says_what_ran(manifest: Manifest) -> None:
    content = json.loads(manifest.to_json())
    assert len(content["controller"]["sha256"]) == 64
    assert content["versions"]["kernel"] == os.uname().release
    assert content["machine"]["cores"] >= 1
    assert content["machine"]["memory"] > 1e8
    assert content["seed"] == 7
