"""What a build says of itself: what its bytes follow from, and apart from that, where it ran."""

from __future__ import annotations

import platform
import sys
from typing import Any

import msgspec

from averment._version import __version__
from averment.oracle.certify import Certification
from averment.oracle.gold.kitchen import Kitchen
from averment.oracle.report import LOGIC_VERSION
from averment.oracle.worker.isolation import Isolation
from averment.text.jsontext import digest

__all__ = ["environment_of", "subject_of"]


def subject_of(certified: Certification, kitchen: Kitchen) -> dict[str, Any]:
    """What is being built: all that its bytes follow from."""
    pack, options = certified.pack, certified.options
    return {
        "pack": {
            "pack_id": pack.manifest.pack_id,
            "version": pack.manifest.version,
            "content_hash": pack.fingerprint,
            "files": pack.digests,
        },
        "oracle_kind": "endpoint" if pack.endpoint is not None else "backend",
        "oracle_clock": options.clock,
        "generation_config_hash": digest(
            {"logic": LOGIC_VERSION, "engine": __version__, "options": options.deciding()}
        ),
        "generation_mode": "template_only",
        "language": kitchen.wording.language,
        "system_prompt_id": kitchen.wording.system_prompt.id,
        "seeds": {"global": options.random_seed, "derivation": "sha256 of the task's identity"},
    }


def environment_of(isolation: Isolation) -> dict[str, Any]:
    """What `build_environment.json` says: the machine, and what it enforced on workers."""
    return {
        "schema": "averment.build_environment.v1",
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "platform": sys.platform,
        "machine": platform.machine(),
        "isolation": msgspec.to_builtins(isolation),
    }
