from __future__ import annotations

import os
import socket
import ssl
import threading
from pathlib import Path

import pytest
import trustme
from services import BUNDLE, IDENTITY, authority, serve

from averment.oracle.endpoint.exchange import ExchangeError
from averment.oracle.endpoint.tls import trust, untrusted
from averment.oracle.model.endpoint import Tls
from averment.oracle.oracles import OracleError


def message(caught: pytest.ExceptionInfo[OracleError]) -> str:
    """What was said, without the request."""
    assert caught.value.trouble == "unreachable"
    return caught.value.message.removeprefix("`GET /v1/metadata`: ")


def test_an_authority_that_is_not_trusted_vouches_for_nothing(backend: Path, pack: Path) -> None:
    """The bundle of the pack is another authority's."""
    with serve(backend) as service:
        oracle = service.oracle(pack)
        trustme.CA().cert_pem.write_to_path(str(pack / BUNDLE))
        with pytest.raises(OracleError) as caught:
            oracle.metadata()
        assert message(caught) == "the service's certificate was signed by an authority that is not trusted"
        assert service.requests == []


def test_the_platform_does_not_trust_the_tests(backend: Path, pack: Path) -> None:
    """Without a bundle the platform's store decides."""
    with serve(backend) as service:
        with pytest.raises(OracleError) as caught:
            service.oracle(pack, tls=Tls()).metadata()
        assert message(caught) == "the service's certificate was signed by an authority that is not trusted"


def test_the_platform_may_be_told_whom_to_trust(
    backend: Path, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its usual variables move the store, where a pack has no bundle."""
    with serve(backend) as service:
        monkeypatch.setenv("SSL_CERT_FILE", str(service.ca_path))
        assert service.oracle(pack, tls=Tls()).metadata() == IDENTITY


def test_a_bundle_replaces_the_store_of_the_platform(
    backend: Path, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whom the platform trusts doesn't matter to a pack that says whom it trusts."""
    with serve(backend) as service:
        monkeypatch.setenv("SSL_CERT_FILE", str(service.ca_path))
        oracle = service.oracle(pack)
        trustme.CA().cert_pem.write_to_path(str(pack / BUNDLE))
        with pytest.raises(OracleError):
            oracle.metadata()


def test_a_certificate_of_another_host_is_refused(backend: Path, pack: Path) -> None:
    """Trusted or not, it must be this host's."""
    with serve(backend, host="elsewhere.example") as service, pytest.raises(OracleError) as caught:
        service.oracle(pack).metadata()
    assert message(caught) == "the service's certificate is another host's"


def test_an_address_needs_a_certificate_of_its_own(backend: Path, pack: Path) -> None:
    """The host that the URL names counts, not the one that it leads to."""
    with serve(backend) as service:
        url = service.base_url.replace("localhost", "127.0.0.1")
        with pytest.raises(OracleError) as caught:
            service.oracle(pack, base_url=url).metadata()
        assert message(caught) == "the service's certificate is another host's"
    with serve(backend, host="127.0.0.1") as service:
        url = service.base_url.replace("localhost", "127.0.0.1")
        assert service.oracle(pack, base_url=url).metadata() == IDENTITY


def test_a_certificate_that_has_run_out_is_refused(backend: Path, pack: Path) -> None:
    """Yesterday's doesn't do."""
    with serve(backend, expired=True) as service, pytest.raises(OracleError) as caught:
        service.oracle(pack).metadata()
    assert message(caught) == "the service's certificate has expired"


def test_an_unknown_reason_has_a_message_without_numbers() -> None:
    """Reasons that no table has are told alike."""
    error = ssl.SSLCertVerificationError()
    error.verify_code = 9999
    assert untrusted(error) == "the service's certificate can't be verified"


def test_certificates_and_names_are_always_verified(pack: Path) -> None:
    """No setting of a pack switches it off, and nothing older than TLS 1.2 is spoken."""
    authority().cert_pem.write_to_path(str(pack / BUNDLE))
    for bundle in (None, BUNDLE):
        context = trust(bundle, pack)
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.check_hostname
        assert context.minimum_version is ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize(
    "text", ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
)
def test_a_bundle_must_hold_certificates(pack: Path, text: str) -> None:
    """An empty one would trust nobody, and say so only at the first request."""
    (pack / BUNDLE).write_text(text, encoding="utf-8")
    with pytest.raises(ExchangeError, match="holds no certificates in PEM"):
        trust(BUNDLE, pack)


def test_a_bundle_lies_inside_the_pack(pack: Path) -> None:
    """Neither a way up, nor a link, nor a folder, nor nothing is one."""
    outside = pack.parent / "outside.pem"
    authority().cert_pem.write_to_path(str(outside))
    os.symlink(outside, pack / "link.pem")
    (pack / "folder").mkdir()
    for bundle in ("../outside.pem", str(outside), "link.pem", "folder", "absent.pem"):
        with pytest.raises(ExchangeError, match="must be a file inside the pack"):
            trust(bundle, pack)


def test_a_bundle_of_any_size_is_not_read(pack: Path) -> None:
    """Nobody needs more than four megabytes of authorities."""
    with (pack / BUNDLE).open("wb") as file:
        file.truncate(4 * 2**20 + 1)
    with pytest.raises(ExchangeError, match="4 MB at most"):
        trust(BUNDLE, pack)


def test_a_service_without_tls_is_unreachable(backend: Path, pack: Path) -> None:
    """An answer in the clear is no answer."""
    with serve(backend) as service, socket.create_server(("127.0.0.1", 0)) as plain:

        def greet() -> None:
            connection, _ = plain.accept()
            with connection:
                connection.recv(1)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                connection.recv(4096)

        greeter = threading.Thread(target=greet)
        greeter.start()
        with pytest.raises(OracleError) as caught:
            service.oracle(pack, base_url=f"https://localhost:{plain.getsockname()[1]}").metadata()
        greeter.join()
    assert message(caught) == "no TLS connection to the service can be made or kept"
