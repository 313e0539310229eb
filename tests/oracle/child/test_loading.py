from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from pathlib import Path
from types import CodeType

import pytest
from live_workers import OBEDIENT, live

from averment.oracle.child import loading
from averment.oracle.oracles import Context, OracleError
from averment.oracle.worker.backend import BackendOracle

MARK = "import os, sys; sys.ran_in = [*getattr(sys, 'ran_in', []), os.getpid()]\n"
"""What leaves a trace of having run, and of where: workers inherit what their origin has of it."""


def _value(root: Path, files: dict[str, str], code: str) -> object:
    with live(root, files) as pack:
        return pack.do(code)


def test_helpers_are_found_beside_the_module_and_at_the_root(tmp_path: Path) -> None:
    """The module's own folder comes first."""
    files = {
        "oracle/backend.py": OBEDIENT,
        "oracle/near.py": "where = 'beside'",
        "near.py": "where = 'root'",
        "far.py": "where = 'root'",
    }
    code = "import near, far; value = [near.where, far.where]"
    with (
        live(tmp_path, files) as pack,
        BackendOracle(pack.workers, "oracle/backend.py").episode(Context()) as episode,
    ):
        assert episode.call("do", {"code": code}) == {"value": ["beside", "root"]}


def test_packages_of_the_pack_are_found(tmp_path: Path) -> None:
    """With an `__init__.py`, without one, and by relative imports inside."""
    files = {
        "shop/__init__.py": "from .prices import PRICE",
        "shop/prices.py": "PRICE = 7",
        "plain/deep/tax.py": "TAX = 2",
    }
    code = "import shop\nfrom plain.deep.tax import TAX\nvalue = [shop.PRICE, TAX]"
    assert _value(tmp_path, files, code) == [7, 2]


@pytest.mark.parametrize(
    ("name", "shadows"),
    [("json", False), ("inspect", False), ("datetime", False), ("colorsys", True), ("chess", True)],
)
def test_what_python_has_loaded_wins_over_a_helper_of_its_name(
    tmp_path: Path, name: str, shadows: bool
) -> None:
    """So no helper changes the worker's own modules; other names are the pack's, as scripts have it."""
    code = f"import {name}; value = hasattr({name}, 'OWN')"
    assert _value(tmp_path, {f"{name}.py": "OWN = True"}, code) is shadows


def test_a_helper_named_like_what_the_worker_needs_does_no_harm(tmp_path: Path) -> None:
    """The worker inspects signatures with Python's `inspect`, also where the pack has one."""
    with live(tmp_path, {"inspect.py": "raise RuntimeError", "ast.py": "raise RuntimeError"}) as pack:
        found = pack.oracle.inspect()
    assert found["reset"] == {"callable": True, "line": 7, "mismatch": None}


def test_modules_of_the_pack_have_private_names(tmp_path: Path) -> None:
    """Nothing that is imported later gets the backend by accident, and its file is the real one."""
    with live(tmp_path) as pack:
        code = "import sys; value = ['backend' in sys.modules, 'averment_pack_backend' in sys.modules]"
        assert pack.do(code) == [False, True]
        assert pack.do("value = ctx.__class__.__module__ in __import__('sys').modules") is False
        assert pack.do("import sys; value = [m for m in sys.modules if m.split('.')[0] == 'averment']") == []


@pytest.mark.parametrize(
    ("text", "error_type", "line"),
    [
        ("x = (\n", "SyntaxError", 1),
        ("\n\n1 / 0\n", "ZeroDivisionError", 3),
        ("import nothing_of_this_name\n", "ModuleNotFoundError", 1),
        ("x = 1\n\treturn\n", "IndentationError", 2),
        ("raise SystemExit(3)\n", "SystemExit", 1),
        ("import helper\n", "SyntaxError", 2),
    ],
)
def test_a_module_that_can_not_be_loaded_is_told_with_its_place(
    tmp_path: Path, text: str, error_type: str, line: int
) -> None:
    """File and line are those of the mistake, in a helper as well."""
    with (
        live(tmp_path, {"backend.py": text, "helper.py": "\n1 +\n"}) as pack,
        pytest.raises(OracleError) as raised,
    ):
        pack.oracle.inspect()
    error = raised.value
    assert (error.op, error.error_type, error.line) == ("import", error_type, line)
    assert error.file == ("helper.py" if "helper" in text else "backend.py")
    assert str(tmp_path) not in f"{error.message}{error.traceback}"


# What follows is about the process that workers are forked from: it must run nothing of the pack.


TRICKS = {
    "a file of the standard library's names": dict.fromkeys(("colorsys.py", "wave.py", "sched.py"), MARK),
    "site customisation": dict.fromkeys(("sitecustomize.py", "usercustomize.py", "site.py"), MARK),
    "path files": {"evil.pth": MARK, "lib/evil.pth": MARK},
    "names with dots": {
        "backend.py": f"def f():\n    import os.path, a.b.c, backend.x, helpers.deep.er\n{OBEDIENT}",
        "a/b/c.py": MARK,
        "helpers/deep/er.py": MARK,
    },
    "programs of libraries": {
        "backend.py": f"def f():\n    import unittest.__main__, json.__main__, ensurepip.__main__\n{OBEDIENT}"
    },
    "what ends the interpreter": {
        "backend.py": f"def f():\n    import antigravity, this, idlelib.idle\n{OBEDIENT}"
    },
    "a decoder of its own": {"helper.py": "# coding: rot13\nvzcbeg bf\n", "rot13.py": MARK},
    "a package of the worker's name": {
        "averment/__init__.py": MARK,
        "averment/oracle/child/ambient.py": MARK,
    },
}


@pytest.mark.parametrize("name", TRICKS)
def test_the_origin_of_workers_runs_nothing_of_the_pack(tmp_path: Path, name: str) -> None:
    """Whatever files are called, and whatever they import: none of it is executed before a worker has sealed itself."""
    code = "import os, sys; value = [pid for pid in getattr(sys, 'ran_in', []) if pid != os.getpid()]"
    with live(tmp_path / "pack", TRICKS[name]) as pack:
        assert [pack.do(code, world) for world in ("plain", "shifted")] == [[], []]
    assert not list(tmp_path.rglob("*.pyc"))


def test_what_the_pack_runs_is_run_in_the_worker(tmp_path: Path) -> None:
    """The trace that the test above looks for is left there."""
    code = "import colorsys, os, sys; value = sys.ran_in == [os.getpid()]"
    assert _value(tmp_path, {"colorsys.py": MARK}, code) is True


def _origin_has(root: Path, code: str, path: list[str]) -> str:
    """What a process that prepares a pack as the origin of workers does says of itself afterwards."""
    program = f"""
import sys
sys.dont_write_bytecode = True
sys.path += {path!r}
from averment.oracle.child import loading
loading.prepare({str(root)!r})
{code}
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_a_pack_inside_a_folder_of_libraries_is_not_imported(tmp_path: Path) -> None:
    """A pack that is installed as a part of a package can be named by its own import, and is the pack's all the same."""
    site = tmp_path / "site-packages"
    root = site / "shop" / "pack"
    root.mkdir(parents=True)
    (site / "shop" / "__init__.py").write_text("")
    (root / "__init__.py").write_text("print('RUN')")
    (root / "backend.py").write_text("import shop.pack, shop.pack.backend\nprint('RUN')")
    out = _origin_has(root, "print('shop' in sys.modules, 'shop.pack' in sys.modules)", [str(site)])
    assert out.split() == ["True", "False"]


def test_a_pack_in_the_import_path_is_not_imported(tmp_path: Path) -> None:
    """Nor where the pack's folder, or a link to it, is in the path of Python itself."""
    root = tmp_path / "pack"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "linked").symlink_to(root)
    (root / "helper.so").write_bytes(b"")
    (root / "backend.py").write_text("import colours, helper, sub.x\n")
    (root / "colours.py").write_text("print('RUN')")
    (root / "sub" / "x.py").write_text("print('RUN')")
    out = _origin_has(root, "print('colours' in sys.modules)", [str(root), str(tmp_path / "linked")])
    assert out.split() == ["False"]


def test_libraries_outside_the_pack_are_loaded_ahead(tmp_path: Path) -> None:
    """That is what it is for; one that fails or ends the interpreter is left to the worker."""
    site, root = tmp_path / "site", tmp_path / "pack"
    site.mkdir()
    root.mkdir()
    (site / "good_library.py").write_text("")
    (site / "bad_library.py").write_text("1 / 0")
    (site / "ending_library.py").write_text("raise SystemExit(3)")
    (root / "backend.py").write_text("def f():\n    import good_library, bad_library, ending_library\n")
    names = ["good_library", "bad_library", "ending_library"]
    out = _origin_has(root, f"print([name in sys.modules for name in {names!r}])", [str(site)])
    assert out.strip() == "[True, False, False]"


def test_planted_bytecode_is_not_run(tmp_path: Path) -> None:
    """Only sources run, because only sources are certified: not bytecode beside them, nor in their place."""
    source = tmp_path / "planted.py"
    source.write_text("WHO = 'planted'")
    cached = tmp_path / "__pycache__" / f"helper.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(source), cfile=str(cached), doraise=True)
    py_compile.compile(str(source), cfile=str(tmp_path / "other.pyc"), doraise=True)
    (tmp_path / "helper.py").write_text("WHO = 'source'")
    # Make the bytecode look like that of the helper's source.
    about = (tmp_path / "helper.py").stat()
    data = bytearray(cached.read_bytes())
    data[8:12] = int(about.st_mtime).to_bytes(4, "little")
    data[12:16] = about.st_size.to_bytes(4, "little")
    cached.write_bytes(bytes(data))
    with live(tmp_path) as pack:
        assert pack.do("import helper; value = helper.WHO") == "source"
        assert pack.fails("import other").error_type == "ModuleNotFoundError"
        roundabout = "import sys; sys.path.insert(0, '/' + pack); import helper; value = helper.WHO"
        assert pack.do(roundabout, given={"pack": str(tmp_path)}) == "source"


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 300 + ")" * 300,
        "x = " + "-" * 20_000 + "1",
        "x = " + "[" * 5000,
        "x = 1" + " + 1" * 30_000,
        "if True:\n" + "".join(f"{' ' * depth}if True:\n" for depth in range(1, 150)) + " " * 200 + "pass\n",
        "x = '\0'",
        "\ud800",
    ],
    ids=["parentheses", "signs", "brackets", "sum", "blocks", "null byte", "surrogate"],
)
def test_a_source_that_is_hard_on_the_compiler_is_an_error_of_its_module(tmp_path: Path, text: str) -> None:
    """It is tried where it harms nobody, so that the pack's other modules still load."""
    (tmp_path / "hard.py").write_bytes(text.encode("utf-8", "surrogatepass"))
    with live(tmp_path) as pack:
        assert pack.do("value = 1") == 1
        code = "try:\n    import hard\n    value = 'fine'\nexcept Exception:\n    value = 'an error'"
        assert pack.do(code) in ("fine", "an error")


def test_the_compiler_is_tried_in_a_fork_that_is_limited(tmp_path: Path) -> None:
    """A file on which it hangs, or dies, costs some seconds and no more; the files before it are known."""
    program = """
import os, sys, time
from averment.oracle.child import loading
loading._COMPILING_S = SECONDS
real = loading._compile
mine = os.getpid()
def compile_badly(path):
    if "bad" in path:
        assert os.getpid() != mine
        BAD
    return real(path)
loading._compile = compile_badly
print([os.path.basename(path) for path in loading._compilable(["a.py", "bad.py", "c.py"], bool)])
"""
    for name in ("a.py", "bad.py", "c.py"):
        (tmp_path / name).write_text("x = 1")
    for bad in ("os._exit(9)", "os.kill(os.getpid(), 11)", "\n        while True: pass"):
        seconds = "3" if "while" in bad else "60"
        command = [sys.executable, "-c", program.replace("BAD", bad).replace("SECONDS", seconds)]
        out = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=300
        ).stdout
        assert out.strip() == "['a.py']", bad


def test_modules_that_a_pack_imports_anywhere_are_known(tmp_path: Path) -> None:
    """Imports inside functions and classes count, relative ones are the pack's own."""
    code = _compiled(
        tmp_path,
        "import a.b\ndef f():\n    from c import d\n    class X:\n        import e\nfrom . import g\n",
    )
    assert set(loading._imports(code)) >= {"a.b", "c", "e"}


def _compiled(folder: Path, text: str) -> CodeType:
    path = folder / "m.py"
    path.write_text(text)
    return loading._compile(os.fspath(path))
