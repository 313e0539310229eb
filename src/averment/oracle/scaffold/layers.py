"""The starter's files, laid together.

`starter/` has the files as they are, in folders that are laid over each other: which ones, says `layers`. A file of a
later folder replaces that of an earlier one, but `manifest.yaml` and `README.md`, which continue it. In all of them
words like `__PACK_ID__` are replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

from averment.oracle.scaffold.identity import Identity

__all__ = ["filled", "laid", "starter"]

_CONTINUED = frozenset({"manifest.yaml", "README.md"})
_LEFT_OUT = frozenset({"__init__.py", "__pycache__"})
_WORD = re.compile(r"__[A-Z_]+__")
_ODD_LANGUAGES = frozenset({"no", "on", "off", "yes", "true", "false", "null"})
"""Plain words that YAML 1.1 reads as something else; Norwegian is one."""


def starter(identity: Identity) -> dict[str, str]:
    """The starter pack: the text of each file by its name."""
    return laid("archive", identity, {})


def laid(base: str, identity: Identity, words: Mapping[str, str]) -> dict[str, str]:
    """The files of a base, and of what the identity asks for on top of it.

    Args:
        base: `archive` or `drafted`.
        identity: the pack's.
        words: what else stands for words in the files.
    """
    layers = [base, identity.transport]
    if identity.held_out:
        layers.append(f"{base}_held_out")
    if identity.is_translated:
        layers.append("translation")
    texts: dict[str, str] = {}
    for layer in layers:
        for file in (files("averment.oracle.scaffold") / "starter" / layer).iterdir():
            if file.name in _LEFT_OUT or (file.name == "backend.py" and identity.transport != "python"):
                continue
            before = texts.get(file.name, "") if file.name in _CONTINUED else ""
            texts[file.name] = before + file.read_text(encoding="utf-8")
    language = identity.language
    known = {
        "PACK_ID": identity.pack_id,
        "VERSION": identity.version,
        "LANGUAGE": f'"{language}"' if language.lower() in _ODD_LANGUAGES else language,
        "TOKEN_ENV": f"{identity.pack_id.upper()}_TOKEN",
        **words,
    }
    return {name: filled(text, known) for name, text in sorted(texts.items())}


def filled(text: str, words: Mapping[str, str]) -> str:
    """The text with `__WORD__` replaced where `WORD` is among the words, in one pass."""
    return _WORD.sub(lambda match: words.get(match[0].strip("_"), match[0]), text)
