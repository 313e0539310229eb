"""Loading a pack: its folder, its files, and everything that is wrong with them, at once.

Nothing of a pack is executed here. A pack that loads has files of the right shapes; whether what they say is true of
the oracle is what checks ask.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import msgspec

from averment.errors import DocumentError, nearest
from averment.oracle.model.cases import read_cases
from averment.oracle.model.endpoint import Endpoint, read_endpoint
from averment.oracle.model.fixtures import read_fixtures
from averment.oracle.model.held_out import HeldOut, check_held_out, read_held_out
from averment.oracle.model.manifest import Manifest, read_manifest, warn_of_exempt_names
from averment.oracle.model.pack import Pack
from averment.oracle.model.problems import Problems
from averment.oracle.model.template_checks import read_templates, template_ids
from averment.oracle.model.tools import read_tools
from averment.oracle.model.tree import Tree, inside, read_bytes, scan, unreadable
from averment.text.reading import NotTextError, decode_text
from averment.text.source import MAX_DOCUMENT_BYTES, Source, read_source
from averment.text.structs import describe

T = TypeVar("T")

__all__ = ["DEFAULT_NAMES", "MANIFEST", "load_pack"]

MANIFEST = "manifest.yaml"
"""The one file of a pack whose name is fixed."""

DEFAULT_NAMES = {
    "manifest": MANIFEST,
    "tools": "tools.json",
    "backend": "backend.py",
    "endpoint": "endpoint_config.yaml",
    "fixtures": "fixtures.json",
    "templates": "task_templates.yaml",
    "assertions": "assertions.py",
    "validation_cases": "validation_cases.yaml",
}
"""What the files of a pack are called where the manifest does not say, by role; its own name is fixed."""


def load_pack(path: str | Path, *, strict: bool = False) -> Pack:
    """The pack in a folder.

    Args:
        path: the folder.
        strict: warnings are errors.

    Raises:
        PackError: with every problem of every file, errors first; their codes are in `model.codes`, or the reader's.
    """
    root = Path(os.path.realpath(path))
    problems = Problems(strict=strict)
    if not root.is_dir():
        code = "not_a_directory" if root.exists() else "pack_not_found"
        message = "the pack is no folder" if root.exists() else "there is no such folder"
        problems.file(code, message, os.fspath(path))
        problems.raise_any()
    loading = _Loading(root, problems)
    pack = loading.pack()
    problems.raise_any()
    return msgspec.structs.replace(pack, warnings=problems.warnings)


class _Loading:
    """One pack on its way from disk."""

    def __init__(self, root: Path, problems: Problems) -> None:
        self._root = root
        self._problems = problems
        self._files: dict[str, str] = {}
        self._sources: dict[str, Source] = {}
        self._tree = Tree("", {})

    def pack(self) -> Pack:
        """The pack, as far as it can be read; what can't is in the problems."""
        if not os.path.lexists(self._root / MANIFEST):
            self._refuse_no_pack()
        self._tree = scan(self._root, self._problems)
        self._place("manifest", None)
        manifest = self._read("manifest", read_manifest) or Manifest(pack_id="", version="")
        self._place_files(manifest)
        tools = self._read("tools", read_tools) or []
        if "tools" in self._sources and (source := self._sources.get("manifest")):
            warn_of_exempt_names(manifest, source, [tool.name for tool in tools], self._problems)
        fixtures = self._read("fixtures", read_fixtures) or {}
        templates = self._read("templates", read_templates) or []
        cases = self._read("validation_cases", read_cases) or []
        return Pack(
            root=self._root,
            files=self._files,
            sources=self._sources,
            manifest=manifest,
            tools=tools,
            fixtures=fixtures,
            templates=templates,
            cases=cases,
            held_out=self._held_out(manifest, fixtures),
            endpoint=self._endpoint(),
            system_prompt=manifest.system_prompt or self._system_prompt(),
            fingerprint=self._tree.fingerprint,
            digests=self._tree.digests,
        )

    def _refuse_no_pack(self) -> None:
        """Refuse a folder that is no pack, without a word about all the files that it lacks."""
        near = nearest(MANIFEST, (name for name in os.listdir(self._root) if name.startswith("manifest.")))
        mend = f"Rename `{near}` to `{MANIFEST}`." if near else None
        self._problems.file("manifest_missing", f"the folder has no `{MANIFEST}`", MANIFEST, mend=mend)
        self._problems.raise_any()

    def _place_files(self, manifest: Manifest) -> None:
        """Find the file of each role: where the manifest says, else under its default name."""
        source = self._sources.get("manifest")
        is_read = source is not None and isinstance(source.value, dict)
        paths = manifest.paths
        for role in ("tools", "templates", "assertions", "validation_cases"):
            self._place(role, getattr(paths, role), ("paths", role), required=is_read)
        self._place("fixtures", paths.fixtures, ("paths", "fixtures"))
        self._place("held_out", manifest.held_out, ("held_out",))
        self._place("system_prompt", manifest.system_prompt_path, ("system_prompt_path",))
        if paths.backend is not None or paths.endpoint is None:
            self._place("backend", paths.backend, ("paths", "backend"))
        if paths.endpoint is not None or paths.backend is None:
            self._place("endpoint", paths.endpoint, ("paths", "endpoint"))
        if source is not None and paths.backend is not None and paths.endpoint is not None:
            message = "the manifest names a backend and an endpoint"
            self._problems.error(source, "both_oracles", message, ("paths", "endpoint"), key=True)
        elif "backend" in self._files and "endpoint" in self._files:
            name = self._files.pop("endpoint")
            message = f"`{name}` is not used: the oracle is the backend"
            self._problems.file("endpoint_config_unused", message, name, severity="warning")
        elif is_read and paths.backend is None and paths.endpoint is None and not self._has_oracle():
            expected = f"`{DEFAULT_NAMES['backend']}` or `{DEFAULT_NAMES['endpoint']}`"
            self._problems.file("no_oracle", "the pack has no oracle", MANIFEST, expected=expected)

    def _has_oracle(self) -> bool:
        """Whether an oracle lies under a default name, were it as a link that is refused already."""
        names = (DEFAULT_NAMES["backend"], DEFAULT_NAMES["endpoint"])
        return any(os.path.lexists(self._root / name) for name in names)

    def _place(
        self,
        role: str,
        written: str | None,
        path: Sequence[str | int] = (),
        *,
        required: bool = False,
        named_in: str = "manifest",
    ) -> None:
        """Find the file of a role and take it into the pack's files, or report why it is not there.

        Args:
            role: the role.
            written: its path as one of the pack's documents has it, relative to that; None for the default name.
            path: where in that document.
            required: a missing file is a problem even when no document names it.
            named_in: the role of that document.
        """
        source = self._sources.get(named_in)
        place = (
            {"source": source, "path": tuple(path)} if written is not None and source is not None else None
        )
        name: str | None = DEFAULT_NAMES.get(role)
        if written is not None:
            name = inside(PurePosixPath(self._files[named_in]).parent.as_posix(), written)
            if name is None:
                self._refuse(
                    place, "outside_pack", "the path leads out of the pack", written, "a path inside the pack"
                )
        if name is None:
            return
        if f"tree/{name}" in self._tree.digests:
            self._files[role] = name
        elif os.path.isdir(self._root / name):
            self._refuse(place, "not_a_regular_file", f"`{name or '.'}` is a folder", name, "a file")
        elif (required or written is not None) and not self._is_refused(name):
            self._refuse(place, "file_missing", f"the pack has no `{name}`", name, "the file")

    def _is_refused(self, name: str) -> bool:
        """Whether something lies at a path that the scan of the tree has reported: a link, a pipe, a forbidden file."""
        parts = PurePosixPath(name).parts
        steps = [self._root.joinpath(*parts[: count + 1]) for count in range(len(parts))]
        return os.path.lexists(steps[-1]) or any(map(os.path.islink, steps))

    def _refuse(
        self, place: dict[str, Any] | None, code: str, message: str, name: str, expected: str
    ) -> None:
        """Report what is wrong with a file, at the place that names it if one does."""
        if place is None:
            self._problems.file(code, message, name, expected=expected)
        else:
            self._problems.error(
                place["source"], code, message, place["path"], expected=expected, found=describe(name)
            )

    def _read(self, role: str, reader: Callable[[Source, Problems], T]) -> T | None:
        """What the document of a role says, or None where there is none or it is no YAML or JSON."""
        name = self._files.get(role)
        data = self._bytes(name) if name is not None else None
        if data is None:
            return None
        try:
            source = read_source(data, name=name)
        except DocumentError as error:
            for problem in error.problems:
                self._problems.report(problem)
            return None
        self._sources[role] = source
        return reader(source, self._problems)

    def _bytes(self, name: str) -> bytes | None:
        try:
            return read_bytes(self._root, name, MAX_DOCUMENT_BYTES + 1)
        except OSError as error:
            self._problems.report(unreadable(name, error))
            return None

    def _held_out(self, manifest: Manifest, fixtures: dict[str, Any]) -> HeldOut | None:
        held_out = self._read("held_out", read_held_out)
        if held_out is not None:
            templates = self._sources.get("templates")
            check_held_out(
                held_out,
                self._sources["held_out"],
                self._problems,
                manifest=manifest,
                fixtures=fixtures,
                templates=template_ids(templates) if templates else held_out.templates,
            )
        return held_out

    def _endpoint(self) -> Endpoint | None:
        endpoint = self._read("endpoint", read_endpoint)
        if endpoint is not None and endpoint.tls.ca_bundle_path is not None:
            path = ("tls", "ca_bundle_path")
            self._place("ca_bundle", endpoint.tls.ca_bundle_path, path, named_in="endpoint")
        return endpoint

    def _system_prompt(self) -> str | None:
        """The text of the file of the system prompt."""
        name = self._files.get("system_prompt")
        data = self._bytes(name) if name is not None else None
        if name is None or data is None:
            return None
        try:
            text = decode_text(data)[0]
        except NotTextError as error:
            place = {"line": error.place.line, "column": error.place.column}
            self._problems.file(
                "invalid_encoding", error.message, name, mend="Save the file as UTF-8.", **place
            )
            return None
        if len(data) > MAX_DOCUMENT_BYTES:
            limit = f"at most {MAX_DOCUMENT_BYTES // 2**20} MB"
            self._problems.file("document_too_large", "the system prompt is too large", name, expected=limit)
        if not text.strip():
            self._problems.file("empty_value", "the system prompt is blank", name, expected="a text")
        return text
