from __future__ import annotations

from averment.report.look import PLAIN, Look, cells, fitted


def test_text_without_a_terminal_keeps_its_long_lines() -> None:
    """Logs are searched by programs, and lines that are wrapped hide what they look for."""
    text = "word " * 200 + "end"
    assert list(PLAIN.lines(text, indent=4)) == [f"    {text}"]
    assert PLAIN.paint("FAIL", "no") == "no"


def test_text_at_a_terminal_ends_where_the_terminal_does() -> None:
    """Between words; further lines are indented by two more, and none is wider than the terminal."""
    text = " ".join(["five!"] * 20)
    lines = list(Look(width=40).lines(text, indent=4))
    assert len(lines) > 3
    assert all(len(line) <= 40 for line in lines)
    assert [len(line) - len(line.lstrip()) for line in lines[:3]] == [4, 6, 6]
    assert " ".join(line.strip() for line in lines) == text


def test_lines_are_not_as_wide_as_the_widest_screens() -> None:
    """Nobody reads lines of 300 letters."""
    assert max(map(len, Look(width=300).lines("word " * 200))) <= 120


def test_words_that_are_longer_than_a_line_stay_whole() -> None:
    """Paths and URLs are copied from terminals."""
    path = "a/" * 100
    assert list(fitted(f"see {path} there", 30)) == ["see", path, "there"]


def test_wide_characters_take_two_cells_and_combining_ones_none() -> None:
    """As terminals draw them."""
    assert (cells("abc"), cells("日本"), cells("e\u0301")) == (3, 4, 1)
    assert list(fitted("日本 日本 日本", 10)) == ["日本 日本", "日本"]


def test_colours_end_where_they_began() -> None:
    """Each line of a text that is wrapped is coloured by itself; nothing is painted that is empty."""
    look = Look(color=True, width=30)
    assert look.paint("PASS", "yes") == "\x1b[32myes\x1b[0m"
    assert not look.paint("PASS", "")
    lines = list(look.lines("word " * 20 + "end", style="dim"))
    assert len(lines) > 2
    assert all(line.lstrip().startswith("\x1b[2m") and line.endswith("\x1b[0m") for line in lines)
