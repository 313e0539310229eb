"""Which secrets of the environment a service is sent.

A pack names environment variables, never secrets; but whoever wrote a pack must not be able to have any variable of the
person who checks it sent to a host of his choice. So three things must agree:

1. the pack names the variable: `auth.bearer_token_env`, or a value under `auth.headers`;
2. the variable is set;
3. the person who runs the check granted it to this service, in the variable `AVERMENT_ENDPOINT_SECRETS`: pairs
   `NAME@BASE_URL` with white space between them. The URL is the pack's `base_url`, compared exactly but for a slash
   at the end.

A grant is looked for before the variable is, so that a pack can't even learn which variables exist. A secret goes to
`base_url` and nowhere else: redirects are not followed, and proxies that the environment names are not used. No
message, no traceback and no `repr` holds one.

`auth.bearer_token_ref`, and headers that refer to anything but a variable, mean something only where the secret store of
the original implementation is; they are refused. So is its policy file: a grant says the same in one line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from averment.oracle.endpoint.exchange import ExchangeError
from averment.oracle.model.endpoint import Endpoint

__all__ = ["GRANTS", "Credentials"]

GRANTS = "AVERMENT_ENDPOINT_SECRETS"
"""The environment variable that says which secrets go where."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,255}")  # RFC 9110, section 5.6.2
_VALUE = re.compile(r"[!-~](?:[ -~]{0,8190}[!-~])?")  # one line of visible ASCII
_OWN = frozenset(
    (
        *("accept", "accept-encoding", "authorization", "connection", "content-length", "content-type"),
        *("expect", "host", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"),
    )
)
"""What the client itself says: `Authorization` is the token's; the others frame the request or describe its body."""


class Credentials:
    """The headers that tell the service who asks; no Struct, because a Struct's `repr` shows its fields."""

    __slots__ = ("_headers", "_secrets")

    def __init__(self, config: Endpoint, environ: Mapping[str, str]) -> None:
        """Take the secrets from the environment.

        Raises:
            ExchangeError: `unreachable`, with the names of the variables that are not granted, not set, or hold what
                no header can carry.
        """
        names = _named(config)
        granted = {
            name
            for pair in environ.get(GRANTS, "").split()
            for name, _, url in [pair.partition("@")]
            if url.rstrip("/") == config.base_url.rstrip("/")
        }
        if missing := _listed(name for name in names.values() if name not in granted):
            pairs = " ".join(f"{name}@{config.base_url}" for name in sorted(set(names.values()) - granted))
            raise ExchangeError(
                "unreachable",
                f"the pack asks for {missing}, and nobody granted that to this service: to do so, set {GRANTS} to "
                f"`{pairs}`",
            )
        if missing := _listed(name for name in names.values() if not environ.get(name)):
            raise ExchangeError("unreachable", f"the pack asks for {missing}, and nothing is set there")
        if wrong := _listed(name for name in names.values() if not _VALUE.fullmatch(environ[name])):
            raise ExchangeError(
                "unreachable",
                f"{wrong} must hold one line of visible ASCII, 8 kB at most, without white space around it",
            )
        self._secrets = frozenset(environ[name] for name in names.values())
        self._headers = {
            header: f"Bearer {environ[name]}" if header == "Authorization" else environ[name]
            for header, name in names.items()
        }

    def headers(self) -> dict[str, str]:
        """The headers, secrets included; not to be kept."""
        return dict(self._headers)

    def betrayed_by(self, text: str) -> bool:
        """Whether a text holds one of the secrets."""
        return any(secret in text for secret in self._secrets)


def _named(config: Endpoint) -> dict[str, str]:
    """The variable behind each header."""
    auth = config.auth
    if auth.bearer_token_ref is not None:
        raise ExchangeError(
            "unreachable",
            "`auth.bearer_token_ref` refers to a secret store, and only environment variables are supported: name "
            "one in `auth.bearer_token_env`",
        )
    names: dict[str, Any] = {}
    if auth.bearer_token_env is not None:
        names["Authorization"] = auth.bearer_token_env
    for header, name in sorted(auth.headers.items()):
        if not _TOKEN.fullmatch(header) or header.lower() in _OWN:
            raise ExchangeError(
                "unreachable", "`auth.headers` has a name that is no header's, or that the client itself sets"
            )
        names[header] = name
    if not all(isinstance(name, str) and _VARIABLE.fullmatch(name) for name in names.values()):
        raise ExchangeError(
            "unreachable",
            "`auth` has a value that is not the name of an environment variable, and nothing else is supported",
        )
    return names


def _listed(names: Any) -> str:
    """`the environment variable A`, `the environment variables A and B`; empty for none."""
    listed = [f"`{name}`" for name in sorted(set(names))]
    if not listed:
        return ""
    plural = "s" if len(listed) > 1 else ""
    return f"the environment variable{plural} {' and '.join(listed)}"
