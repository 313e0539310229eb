"""`endpoint_config.yaml`: which HTTPS service is the oracle, and how it is known to be the one."""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from averment.oracle.model.problems import Problems
from averment.oracle.model.shapes import Text, at_path, tidy
from averment.text.source import Source
from averment.text.structs import Mistake, describe

__all__ = ["EXAMPLE", "PROTOCOL", "Attestation", "Auth", "Endpoint", "Expected", "Tls", "read_endpoint"]

PROTOCOL = "bfcl-oracle-http-v1"
"""The one protocol that is spoken."""

EXAMPLE = f"""\
protocol_version: {PROTOCOL}
base_url: https://oracle.example.com/library
expected:
  oracle_id: library
  oracle_version: "1.0.0"
  content_digest: sha256:{"0" * 64}
auth:
  bearer_token_env: LIBRARY_ORACLE_TOKEN
  headers: {{X-Tenant: LIBRARY_ORACLE_TENANT}}
max_response_bytes: 1048576
"""

_ATTESTATION = "bfcl-endpoint-conformance-v1"
_RESERVED = ("authorization", "host", "content-length")
_RESERVED_NAMES = "^(?:{})$".format(
    "|".join(
        "".join(f"[{char}{char.upper()}]" if char.isalpha() else char for char in name) for name in _RESERVED
    )
)
"""The reserved headers in any case, as JSON Schema can say it."""
_DIGEST = "^sha256:[0-9a-f]{64}$"
_URL = "^https://[^/?#@\\s]+(?:/[^?#\\s]*)?$"
_ENV_NAME = "^[A-Za-z_][A-Za-z0-9_]*$"

_digest = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII).fullmatch
_url = re.compile(
    r"https://(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
    r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?",
    re.ASCII | re.IGNORECASE,
).fullmatch
_env_name = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII).fullmatch
_reference = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+", re.ASCII).fullmatch

Digest = Annotated[str, Meta(extra_json_schema={"pattern": _DIGEST})]
Size = Annotated[int, Meta(extra_json_schema={"minimum": 1})]


class Expected(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the service must say that it is, exactly; digests are `sha256:` and 64 hex digits."""

    oracle_id: Annotated[Text, Meta(description="The name of the oracle.")]
    oracle_version: Annotated[Text, Meta(description="Its version.")]
    content_digest: Annotated[Digest, Meta(description="The digest of what it serves.")]
    principal_digest: Annotated[Digest | None, Meta(description="Of whom it answers to.")] = None
    permission_digest: Annotated[Digest | None, Meta(description="Of what that one may do.")] = None
    authorization_context_digest: Annotated[Digest | None, Meta(description="Of how that was decided.")] = (
        None
    )


class Auth(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where secrets come from: names of environment variables, never the secrets."""

    bearer_token_env: Annotated[
        str | None,
        Meta(
            description="The environment variable with the bearer token.",
            extra_json_schema={"pattern": _ENV_NAME},
        ),
    ] = None
    bearer_token_ref: Annotated[
        Text | None, Meta(description="A reference into a store of secrets, instead of a variable.")
    ] = None
    headers: Annotated[
        dict[str, Any],
        Meta(
            description="Further headers, each with the environment variable that holds its value.",
            extra_json_schema={
                "additionalProperties": {"type": "string"},
                "propertyNames": {"not": {"pattern": _RESERVED_NAMES}},
            },
        ),
    ] = {}


class Attestation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The conformance document that the service must show."""

    kind: Annotated[str, Meta(description="Its kind.", extra_json_schema={"const": _ATTESTATION})]
    expected_digest: Annotated[Digest, Meta(description="The digest of the document.")]


class Tls(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Certificates to trust, a file inside the pack, instead of the platform's."""

    ca_bundle_path: Annotated[
        Text | None, Meta(description="A file of certificates in PEM, relative to this file.")
    ] = None


class Endpoint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The HTTPS service that answers calls instead of a `backend.py`; no other key may stand here.

    The service is asked what it is before every use, and anything but `expected` ends the check. Redirects are not
    followed and calls are not repeated. No secret stands here, only the names of environment variables; the person who
    runs the check grants each to this `base_url`.
    """

    protocol_version: Annotated[str, Meta(description="The protocol.", extra_json_schema={"const": PROTOCOL})]
    base_url: Annotated[
        str,
        Meta(
            description="An HTTPS URL without user, query or fragment; a slash at the end is dropped.",
            extra_json_schema={"pattern": _URL},
        ),
    ]
    expected: Annotated[Expected, Meta(description="What the service must say that it is.")]
    auth: Annotated[Auth, Meta(description="Where its secrets come from.")] = Auth()
    attestation: Annotated[Attestation | None, Meta(description="Its conformance document.")] = None
    tls: Annotated[Tls, Meta(description="Which certificates are trusted.")] = Tls()
    max_request_bytes: Annotated[Size, Meta(description="The largest request.")] = 10 * 2**20
    max_response_bytes: Annotated[Size, Meta(description="The largest response.")] = 10 * 2**20


def read_endpoint(source: Source, problems: Problems) -> Endpoint | None:
    """The service, or None after reporting why not. What stands under `auth` is never quoted."""
    if not problems.root(
        source, dict, "`protocol_version`, `base_url`, `expected` and what else the service needs"
    ):
        return None
    tidied = tidy(source.value, Endpoint)
    mistakes = [_hushed(mistake) for mistake in tidied.mistakes]
    mistakes += _mistakes(source.value)
    problems.mistakes(source, (), mistakes, "error")
    problems.mistakes(source, (), tidied.oddities, "warning")
    if mistakes or tidied.struct is None:
        return None
    endpoint: Endpoint = tidied.struct
    return msgspec.structs.replace(endpoint, base_url=endpoint.base_url.rstrip("/"))


def _hushed(mistake: Mistake) -> Mistake:
    return msgspec.structs.replace(mistake, found=None) if mistake.path[:1] == ("auth",) else mistake


def _mistakes(raw: dict[str, Any]) -> list[Mistake]:
    """What is wrong with values that have the right types."""
    found = []
    if isinstance(protocol := raw.get("protocol_version"), str) and protocol != PROTOCOL:
        message = "the protocol is not one that is spoken here"
        path = ("protocol_version",)
        found.append(
            Mistake("unsupported_protocol", message, path, expected=f"`{PROTOCOL}`", found=describe(protocol))
        )
    if isinstance(url := raw.get("base_url"), str) and not _url(url):
        message = "`base_url` is no HTTPS URL of a host and a path"
        found.append(Mistake("invalid_base_url", message, ("base_url",), expected="`https://host/path`"))
    for section, name in [
        *(("expected", name) for name in Expected.__struct_fields__ if name.endswith("_digest")),
        ("attestation", "expected_digest"),
    ]:
        if isinstance(digest := at_path(raw, (section, name)), str) and not _digest(digest):
            expected = "`sha256:` and 64 hex digits in lower case"
            message, shown = f"`{name}` is no digest", describe(digest)
            found.append(Mistake("invalid_digest", message, (section, name), expected=expected, found=shown))
    if isinstance(kind := at_path(raw, ("attestation", "kind")), str) and kind != _ATTESTATION:
        message = "the kind of the attestation is unknown"
        path_of = ("attestation", "kind")
        found.append(
            Mistake(
                "unsupported_attestation",
                message,
                path_of,
                expected=f"`{_ATTESTATION}`",
                found=describe(kind),
            )
        )
    for name in ("max_request_bytes", "max_response_bytes"):
        size = raw.get(name)
        if isinstance(size, int) and not isinstance(size, bool) and size < 1:
            message = f"`{name}` is not positive"
            found.append(
                Mistake("out_of_range", message, (name,), expected="1 or more", found=describe(size))
            )
    return [*found, *_auth_mistakes(raw.get("auth"))]


def _auth_mistakes(auth: Any) -> list[Mistake]:
    """What is wrong with the names of secrets; no value is shown, as it may be the secret itself."""
    if not isinstance(auth, dict):
        return []
    found = []
    variable = "the name of an environment variable"
    env, ref = auth.get("bearer_token_env"), auth.get("bearer_token_ref")
    if env is not None and ref is not None:
        message = "the bearer token has two sources"
        found.append(Mistake("two_bearer_sources", message, ("auth", "bearer_token_ref"), key=True))
    if isinstance(env, str) and not _env_name(env):
        message = "`bearer_token_env` is not the name of a variable"
        found.append(Mistake("not_an_env_name", message, ("auth", "bearer_token_env"), expected=variable))
    headers = auth.get("headers")
    for header, value in headers.items() if isinstance(headers, dict) else ():
        path = ("auth", "headers", header)
        if header.lower() in _RESERVED:
            message = f"the header `{header}` is set by the client"
            found.append(Mistake("reserved_header", message, path, key=True))
        elif not isinstance(value, str) or not (_env_name(value) or _reference(value)):
            message = f"the value of the header `{header[:60]}` is not the name of a variable"
            found.append(Mistake("not_an_env_name", message, path, expected=variable))
    return found
