"""`endpoint_config.yaml`: which HTTPS service is the oracle, and how it is known to be the one."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Attestation", "Auth", "Endpoint", "Expected", "Tls"]


class Expected(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the service must say that it is, exactly; digests are `sha256:` and 64 hex digits."""

    oracle_id: str
    oracle_version: str
    content_digest: str
    principal_digest: str | None = None
    permission_digest: str | None = None
    authorization_context_digest: str | None = None


class Auth(msgspec.Struct, frozen=True, kw_only=True):
    """Where secrets come from: names of environment variables, never the secrets."""

    bearer_token_env: str | None = None
    bearer_token_ref: str | None = None
    headers: dict[str, Any] = {}


class Attestation(msgspec.Struct, frozen=True, kw_only=True):
    """The conformance document that the service must show."""

    kind: str
    expected_digest: str


class Tls(msgspec.Struct, frozen=True, kw_only=True):
    """Certificates to trust, a file inside the pack, instead of the platform's."""

    ca_bundle_path: str | None = None


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The service."""

    protocol_version: str
    base_url: str
    expected: Expected
    auth: Auth = Auth()
    attestation: Attestation | None = None
    tls: Tls = Tls()
    max_request_bytes: int = 10 * 2**20
    max_response_bytes: int = 10 * 2**20
