from __future__ import annotations

import re
from pathlib import Path

import pytest

from averment.errors import UsageError
from averment.suites.kept import Kept, folder_names

HOSTILE = (
    *(
        "../x",
        "..",
        ".",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "",
        " ",
        "~",
        "a" * 300,
        "é",
        "ключ",
        "\u202e",
        "CON.",
    ),
    *("-rf", ".hidden", "a\nb", "💥", "a~b", "\x1b[2J"),
)


def test_plain_names_stand_as_they_are() -> None:
    """What people call their cases is what they find in the folder."""
    names = ["A-17", "refund_2.1", "x"]
    assert folder_names(names) == {name: name for name in names}


def test_no_name_breaks_out_of_its_folder_or_takes_that_of_another() -> None:
    """Whatever a case is called: one folder of its own, of plain characters, also where case counts for nothing."""
    found = folder_names([*HOSTILE, "A", "a", "x~0000000000000000", *(f"{'a' * 300}{i}" for i in range(20))])
    for folder in found.values():
        assert re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._~-]{0,59}", folder), folder
        assert not folder.endswith(".")
    assert len({folder.lower() for folder in found.values()}) == len(found)


def test_a_name_is_the_same_in_every_run() -> None:
    """It hangs on the names alone."""
    assert folder_names(["../x"]) == {"../x": "x~d6b96a97d147daaa"}
    assert folder_names(["A", "a"])["a"] == folder_names(["a", "b", "A"])["a"]


def _part(kept: Kept, *part: str) -> Path:
    kept.make()
    kept.prepare(part)
    return Path(kept.path(part, ".json"))


def test_the_folder_stays_out_of_version_control(folder: Path) -> None:
    """Also the file that says so."""
    _part(Kept(""), "e", "c", "1")
    assert (folder / ".averment" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert (folder / ".averment" / "produced" / "e" / "c").is_dir()


def test_files_of_an_earlier_run_are_removed(folder: Path) -> None:
    """Those of one trial, or the whole folder of an entry; a link that stands there is removed and not followed."""
    kept = Kept("")
    first = _part(kept, "e", "c", "1")
    first.write_text("old", encoding="utf-8")
    precious = folder / "precious"
    precious.write_text("precious", encoding="utf-8")
    first.with_suffix(".log").symlink_to(precious)
    kept.prepare(("e", "c", "1"))
    assert list(first.parent.iterdir()) == []
    first.mkdir()
    (first / "x").write_text("x", encoding="utf-8")
    kept.prepare(("e", "c", "1"))
    assert list(first.parent.iterdir()) == []
    (first.parent / "link").symlink_to(folder)
    kept.empty(("e",))
    assert not first.parent.parent.exists()
    assert precious.read_text(encoding="utf-8") == "precious"
    kept.empty(("never",))


@pytest.mark.parametrize(
    "link", [".averment", ".averment/produced", ".averment/produced/e", ".averment/produced/e/c"]
)
def test_no_link_leads_out(folder: Path, link: str) -> None:
    """Whoever can write to the repository can't have files written or removed elsewhere."""
    outside = folder / "outside"
    (outside / "c").mkdir(parents=True)
    (outside / "c" / "1.json").write_text("precious", encoding="utf-8")
    if link.count("/") > 1:
        Kept("").make()
    (folder / link).parent.mkdir(parents=True, exist_ok=True)
    (folder / link).symlink_to(outside)
    kept = Kept("")
    with pytest.raises(UsageError, match="symbolic_link"):
        _part(kept, "e", "c", "1")
    if link.count("/") > 1:
        with pytest.raises(UsageError, match="symbolic_link"):
            kept.empty(("e", "c"))
    assert (outside / "c" / "1.json").read_text(encoding="utf-8") == "precious"


def test_a_folder_that_is_somebody_elses_is_refused(folder: Path) -> None:
    """Only an empty folder, one that is not there yet, or one that averment made, is used."""
    assert [problem.code for problem in Kept("", "recordings").problems()] == ["output_exists"]
    assert [problem.code for problem in Kept("", "d.yaml").problems()] == ["output_unwritable"]
    (folder / "empty").mkdir()
    for name in ("empty", "new/one"):
        path = _part(Kept("", name), "e", "1")
        assert path == Path(name) / "e" / "1.json"
        path.write_text("x", encoding="utf-8")
        assert Kept("", name).problems() == []
    assert not (folder / ".averment").exists()
    assert not (folder / "new" / ".gitignore").exists()


def test_files_are_named_as_seen_from_the_suite(folder: Path) -> None:
    """No path of this machine is shown, wherever one works."""
    assert folder.is_dir()
    assert Kept("").relative(Kept("").path(("e", "1"), ".json")) == ".averment/produced/e/1.json"
    assert Kept("sub").relative(Kept("sub").path(("e", "1"), ".json")) == ".averment/produced/e/1.json"
    assert Kept("sub", "kept").relative(Kept("sub", "kept").path(("e", "1"), ".json")) == "../kept/e/1.json"


def test_a_folder_that_cant_be_made_is_told(folder: Path) -> None:
    """As a problem, with its name."""
    with pytest.raises(UsageError, match=r"d\.yaml/kept: error\[output_unwritable\]"):
        Kept("", "d.yaml/kept").make()
    kept = Kept("")
    kept.make()
    (folder / ".averment" / "produced" / "e").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match="output_unwritable"):
        kept.prepare(("e", "c", "1"))
