from __future__ import annotations

import pytest

from testbed.base.strange import LINE, MOST, all_visible, file_name, is_plain, message, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),  # what begins a sequence in one byte
        ("over\rwritten", "over\\rwritten"),
        ("abc\u202efdp.exe", "abc\\u202efdp.exe"),
        ("\ud800", "\\ud800"),  # half a character, which no terminal can be sent
    ],
)
def test_what_acts_on_a_terminal_is_shown(text: str, shown: str) -> None:
    assert not is_plain(text)
    assert visible(text) == shown
    visible(text).encode()


def test_what_can_be_read_stays() -> None:
    for text in ("plain", "two\nlines\tand a tab", "μs, Zürich, 数据中心, שלום", "C:\\x1b"):
        assert is_plain(text)
        assert visible(text) == text


def test_a_message_shows_no_whole_file() -> None:
    assert message("a\x1b\nb") == "a\\x1b\nb"
    shown = message("begin" + "x" * 1_000_000 + "end")
    assert shown.startswith("beginx")
    assert shown.endswith("xend")
    assert len(shown) < LINE + 10
    assert message("x\n" * 1000 + "x").endswith("x\n... and 901 lines more")
    many = message("\n".join(["x" * LINE] * 50))
    assert many.endswith("x\n... and 40 lines more")
    assert len(many) < MOST + 100


def test_all_of_json_is_made_visible() -> None:
    held = {"a\x1b": ["b\x1b", {"c": "d\x07"}, 1, None, True, 0.5]}
    assert all_visible(held) == {"a\\x1b": ["b\\x1b", {"c": "d\\x07"}, 1, None, True, 0.5]}


def test_a_file_name_leads_nowhere_else() -> None:
    assert file_name("decisions-/../../.bashrc") == "decisions--..-..-.bashrc"
    assert file_name("h1-h2#2") == "h1-h2-2"
