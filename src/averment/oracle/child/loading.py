"""Loading a pack's modules from source, under names of their own.

Modules of packs are compiled once, in the process that workers are forked from, and executed in each worker: compiling
runs nothing of the pack, and takes longer than everything else about a start. What could still go wrong there goes wrong
elsewhere first: a fork tries the compiler on every file, and files that break it, or keep it busy, are left to workers.

The libraries that a pack imports are loaded there as well, and only they: a module is taken from Python's own places, and
never from the pack's folder, whatever its name and wherever that folder lies.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import FileFinder, ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

__all__ = ["Loader", "load", "prepare"]

_MOST_FILES = 200
_MOST_BYTES = 2 << 20
_COMPILING_S = 3

_PLAYFUL = frozenset(("__main__", "antigravity", "idlelib", "test", "this", "tkinter", "turtle", "averment"))
"""What is never imported before a worker asks for it."""

_compiled: dict[str, CodeType] = {}


class Loader(SourceFileLoader):
    """Loads a source file, already compiled where `prepare` has seen it; writes no bytecode."""

    def get_code(self, fullname: str) -> CodeType | None:  # noqa: ARG002 - the loader's protocol
        """The module's code; reads and compiles the file where it is not known yet."""
        known = _compiled.get(self.path)
        if known is not None:
            return known
        return self.source_to_code(self.get_data(self.path), self.path)


def prepare(root: str, limit: Callable[[], object] = bool) -> None:
    """Compile the pack's Python files, load the libraries that they import, and let workers import what was compiled.

    Files that don't compile are left to the worker that imports them: it reports the error with its place. So are
    libraries that can't be loaded.

    Args:
        root: the pack's folder.
        limit: limits the memory of the process that calls it.
    """
    files = _python_files(root)
    for path in _compilable(files, limit):
        with suppress(OSError, SyntaxError, ValueError):  # it has changed meanwhile
            _compiled[path] = _compile(path)
    inside = [os.path.relpath(path, root).removesuffix(".py") for path in files]
    own = {part for path in inside for part in path.split(os.sep)}
    imported = {name for code in _compiled.values() for name in _imports(code)}
    _load_libraries(sorted(name for name in imported if name.partition(".")[0] not in own | _PLAYFUL), root)
    sys.path_hooks.insert(0, _finder(root))


def _python_files(root: str) -> list[str]:
    files: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        files += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
    return [path for path in files[:_MOST_FILES] if os.path.getsize(path) <= _MOST_BYTES]


def _compile(path: str) -> CodeType:
    loader = Loader("pack", path)
    return loader.source_to_code(loader.get_data(path), path)


def _compilable(files: Sequence[str], limit: Callable[[], object]) -> list[str]:
    """The files that the compiler takes, within some seconds for all of them; found out in a fork."""
    found, told = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            signal.alarm(_COMPILING_S)  # ends it in the middle of anything
            limit()
            for index, path in enumerate(files):
                with suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                    _compile(path)
                    os.write(told, index.to_bytes(2, "big"))
        finally:
            os._exit(0)
    os.close(told)
    with open(found, "rb") as pipe:
        told_of = pipe.read()
    os.waitpid(pid, 0)
    return [files[int.from_bytes(told_of[at : at + 2], "big")] for at in range(0, len(told_of), 2)]


def _load_libraries(names: Iterable[str], root: str) -> None:
    at = sys.meta_path.index(PathFinder)
    sys.meta_path[at] = _Libraries(root)
    try:
        for name in names:
            if "__" in name:  # a library's `__main__` is a program
                continue
            with suppress(Exception, SystemExit):  # what can't be had fails in the worker, with its place
                import_module(name)
    finally:
        sys.meta_path[at] = PathFinder


class _Libraries:
    """Finds modules where Python looks for them, but none below a folder."""

    def __init__(self, root: str) -> None:
        self._below = root + os.sep

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None:
            return None
        places = [spec.origin, *(spec.submodule_search_locations or ())]
        if any((os.path.realpath(place) + os.sep).startswith(self._below) for place in places if place):
            return None
        return spec


def _finder(root: str) -> Callable[[str], Any]:
    """What finds modules below the pack's folder: from source, compiled or not, and from nothing else."""
    finder = FileFinder.path_hook((Loader, [".py"]))
    below = root + os.sep

    def hook(path: str) -> Any:
        if path == root or path.startswith(below):
            return finder(path)
        raise ImportError(path)

    return hook


def _imports(code: CodeType) -> Iterator[str]:
    """The names that a file's code imports, `os.path` among them; relative imports are the pack's own."""
    import dis

    pending = [code]
    while pending:
        current = pending.pop()
        pending += [inner for inner in current.co_consts if isinstance(inner, CodeType)]
        for step in dis.get_instructions(current):
            if step.opname == "IMPORT_NAME" and isinstance(step.argval, str):
                yield step.argval


def load(path: str, root: str, name: str) -> ModuleType:
    """Execute a module of the pack and return it.

    Helpers are found beside the module first, then at the pack's root, then where Python looks; modules that Python
    has loaded already win over helpers of the same name.

    Args:
        path: the file.
        root: the pack's folder.
        name: the private name that it is known by.
    """
    folder = os.path.dirname(path)
    sys.path[:0] = [folder] if folder == root else [folder, root]
    loader = Loader(name, path)
    spec = importlib.util.spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    module.__file__ = path
    sys.modules[name] = module
    loader.exec_module(module)
    return module
