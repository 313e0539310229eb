"""What a new pack is called, and what kind of pack it is."""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

from averment.errors import Problem, UsageError

__all__ = ["MAX_NAME", "Identity", "Transport", "identity", "pack_id_of"]

Transport = Literal["python", "endpoint"]

MAX_NAME: Final = 100
"""The longest name, in characters: pack ids become parts of task ids and of file names."""

_ID = re.compile(r"[a-z][a-z0-9_]*")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """A new pack.

    Attributes:
        pack_id: lower case letters, digits and `_`.
        version: of the pack.
        language: the language of its texts, a BCP 47 tag.
        transport: whether its oracle is a `backend.py` or an HTTPS service.
        held_out: whether it has a `held_out.yaml`.
    """

    pack_id: str
    version: str = "0.1.0"
    language: str = "en"
    transport: Transport = "python"
    held_out: bool = False

    @property
    def is_translated(self) -> bool:
        """Whether the texts, which are written in English, are meant to be in another language."""
        return self.language.partition("-")[0].lower() != "en"


def pack_id_of(name: str) -> str | None:
    """The pack id that a name comes to: folded case, `_` for what is neither letter nor digit; None if it is none."""
    found = re.sub(r"[\W_]+", "_", name.casefold()).strip("_")
    return found if len(name) <= MAX_NAME and _ID.fullmatch(found) else None


def identity(
    name: str,
    *,
    version: str = "0.1.0",
    language: str = "en",
    transport: Transport = "python",
    held_out: bool = False,
) -> Identity:
    """The identity that a name and options come to.

    Raises:
        UsageError: with everything that is wrong with them.
    """
    pack_id = pack_id_of(name)
    problems = []
    if pack_id is None:
        problems.append(
            Problem(
                code="invalid_pack_name",
                message=f"no pack id can be made of the name `{name[:MAX_NAME]}`",
                expected=f"at most {MAX_NAME} characters: letters from a to z, then digits too, and what becomes `_`",
                mend="A pack id has lower case letters, digits and `_`, as in `library_loans`.",
            )
        )
    if not _VERSION.fullmatch(version):
        problems.append(
            Problem(
                code="invalid_version",
                message="the version is none",
                expected="letters, digits and `.`, `-`, `+`, `_`, at most 64",
                mend="Give one as in `--version 0.1.0`.",
            )
        )
    if not _LANGUAGE.fullmatch(language):
        problems.append(
            Problem(
                code="invalid_language",
                message="the language is no language tag",
                expected="a tag as in `en`, `vi` or `pt-BR`",
                mend="Give one as in `--language en`.",
            )
        )
    if problems or pack_id is None:
        raise UsageError(problems)
    return Identity(
        pack_id=pack_id, version=version, language=language, transport=transport, held_out=held_out
    )
