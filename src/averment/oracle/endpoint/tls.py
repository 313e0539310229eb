"""TLS for endpoint oracles: which certificates are trusted, and a socket on which nothing outlasts a deadline.

A timeout of a plain socket starts anew with every byte that arrives, so that a server that sends one byte a second
could hold a request open for ever. The socket here takes the time that is left before every single operation.

Certificates are always verified, and so is the host name. The pack's own bundle, where there is one, replaces the
platform's store; `SSL_CERT_FILE` and `SSL_CERT_DIR` can move the latter, as everywhere.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

from averment.oracle.endpoint.exchange import ExchangeError
from averment.oracle.worker.deadline import Deadline

__all__ = ["BoundedSocket", "trust", "untrusted"]

_MAX_BUNDLE_BYTES = 4 * 2**20  # the whole of a platform's store takes a quarter of a megabyte
_REASONS = {  # codes of X509_verify_cert, whose own texts differ between versions
    9: "is not valid yet",
    10: "has expired",
    18: "was signed by itself and is not trusted",
    19: "was signed by an authority that is not trusted",
    20: "was signed by an authority that is not trusted",
    21: "was signed by an authority that is not trusted",
    62: "is another host's",
    64: "is another host's",
}


class BoundedSocket(ssl.SSLSocket):
    """A TLS socket whose every operation ends by `deadline`."""

    deadline: Deadline

    def bound(self) -> None:
        """Give the next operation the time that is left."""
        remaining = self.deadline.remaining()
        if not remaining:
            raise TimeoutError
        self.settimeout(remaining)

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        """Receive; what the file that HTTP answers are read from calls."""
        self.bound()
        return super().recv_into(buffer, nbytes, flags)

    def send(self, data: Any, flags: int = 0) -> int:
        """Send a part; what `sendall` calls."""
        self.bound()
        return super().send(data, flags)

    def is_idle(self) -> bool:
        """Whether the other side has neither closed the connection nor said what nobody asked for."""
        self.settimeout(0.0)
        try:
            self.read(1)
        except ssl.SSLWantReadError:
            return True
        except OSError:
            return False
        return False


def trust(bundle: str | None, pack_root: Path) -> ssl.SSLContext:
    """The context of every connection to the service.

    Args:
        bundle: a file of certificates in PEM, relative to the pack; None is the platform's store.
        pack_root: the pack's directory.

    Raises:
        ExchangeError: `unreachable` when the bundle lies outside the pack, can't be read or holds no certificates.
    """
    path = _inside(bundle, pack_root) if bundle is not None else None
    try:
        context = ssl.create_default_context(cafile=path)
    except (ssl.SSLError, OSError):
        context = None
    if context is None or (path is not None and not context.cert_store_stats()["x509"]):
        raise ExchangeError("unreachable", "`tls.ca_bundle_path` holds no certificates in PEM")
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = True
    context.verify_mode = ssl.CERT_REQUIRED
    context.sslsocket_class = BoundedSocket
    return context


def _inside(bundle: str, pack_root: Path) -> Path:
    root = pack_root.resolve()
    path = (root / bundle).resolve()
    if not path.is_relative_to(root) or not path.is_file() or path.stat().st_size > _MAX_BUNDLE_BYTES:
        size = _MAX_BUNDLE_BYTES // 2**20
        raise ExchangeError(
            "unreachable", f"`tls.ca_bundle_path` must be a file inside the pack, of {size} MB at most"
        )
    return path


def untrusted(error: ssl.SSLCertVerificationError) -> str:
    """Why a certificate was refused, in the same words under every version of OpenSSL."""
    reason = _REASONS.get(error.verify_code)
    return f"the service's certificate {reason}" if reason else "the service's certificate can't be verified"
