"""A switch's WRED profiles, and which queues use them."""

from __future__ import annotations

from typing import Any

PROFILE = "AZURE_LOSSLESS"


def new() -> dict[str, Any]:
    """The defaults: one lossless profile of 1 MB, 2 MB, 5 %, for all queues 3 and 4."""
    return {
        "wred": {
            PROFILE: {
                "ecn": "ecn_all",
                "wred_green_enable": "true",
                "green_min_threshold": "1048576",
                "green_max_threshold": "2097152",
                "green_drop_probability": "5",
            }
        },
        "orchagent": True,
        "nvue": {"applied": {}, "staged": {}},
    }
