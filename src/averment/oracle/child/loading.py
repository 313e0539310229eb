"""Loading a pack's modules from source, under names of their own.

Modules of packs are compiled once, in the process that workers are forked from, and executed in each worker: compiling
runs nothing of the pack, and takes longer than everything else about a start.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from importlib.machinery import FileFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

__all__ = ["Loader", "load", "prepare"]

_MOST_FILES = 200
_MOST_BYTES = 2 << 20

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


def prepare(root: str) -> list[str]:
    """Compile the pack's Python files, and let imports below its folder use what was compiled.

    Files that don't compile are left to the worker that imports them: it reports the error with its place.

    Returns:
        The modules outside the pack that its files import, at any depth of their code.
    """
    files: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        files += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
    for path in files[:_MOST_FILES]:
        if os.path.getsize(path) <= _MOST_BYTES:
            loader = Loader("pack", path)
            try:
                _compiled[path] = loader.source_to_code(loader.get_data(path), path)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    finder = FileFinder.path_hook((Loader, [".py"]))
    below = root + os.sep

    def hook(path: str) -> Any:
        if path == root or path.startswith(below):
            return finder(path)
        raise ImportError(path)

    sys.path_hooks.insert(0, hook)
    own = {os.path.basename(path).removesuffix(".py") for path in files}
    own |= {os.path.basename(os.path.dirname(path)) for path in files}
    imported = {name for code in _compiled.values() for name in _imports(code)}
    return sorted(name for name in imported if name.partition(".")[0] not in own | _PLAYFUL)


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
