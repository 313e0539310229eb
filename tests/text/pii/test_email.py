from __future__ import annotations

import pytest

from averment.text.pii import email


def found(text: str) -> list[str]:
    """What stands at the ranges found."""
    return [text[start:end] for start, end in email.find(text)]


@pytest.mark.parametrize(
    "address",
    [
        "a@b.co",
        "jo.doe+x@ex-ample.co.uk",
        "JANE_DOE@EXAMPLE.COM",
        "o'brien@example.ie",
        "100%real-1@sub.example.museum",
        "a..b.@example.com",
        "j\u00fcrgen@m\u00fcller.de",
        "jose\u0301@example.es",
        "\u03b5\u03bb@\u03c0.\u03b3\u03c1\u03b1",
        "a@\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444",
        "a@xn--e1afmkfd.xn--p1ai",
        "user@203.0.113.example",
    ],
)
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "write to {} please",
        "<{}>",
        "mailto:{}?subject=x",
        '{{"email": "{}"}}',
        "'{}'",
        "me,{};you",
        "is {}.",
        "...{}!",
    ],
)
def test_an_address_is_found_exactly(address: str, around: str) -> None:
    """Quotes, brackets and the full stop of the sentence are no part of an address."""
    assert found(around.format(address)) == [address]


def test_scripts_without_spaces_are_not_swallowed() -> None:
    """An address in Japanese text ends where the script changes."""
    assert found("\u30e1\u30fc\u30eb\u306fjane@example.com\u3067\u3059") == ["jane@example.com"]


@pytest.mark.parametrize(
    "text",
    [
        "a@b.c",
        "a@b.c1",
        "a@b.com1",
        "a@b.com_",
        "a@b",
        "root@localhost",
        "@example.com",
        "-@example.com",
        "a @ example.com",
        "a@[192.0.2.1]",
        "a@192.0.2.1",
        '"jane doe"@example.com',
        "jane at example dot com",
        "a@.xn--",
        "5 @ 3.50",
    ],
)
def test_what_is_no_address_is_not_found(text: str) -> None:
    """A last label of one letter or with digits, no domain, no local part, and the forms left out."""
    assert found(text) == []


def test_the_domain_ends_at_its_last_label_of_letters() -> None:
    """What follows the address after a dot or a dash stays outside."""
    assert found("a@b.com.1 c@d.org-2 e@f.net@g") == ["a@b.com", "c@d.org", "e@f.net"]


@pytest.mark.parametrize("between", ["-", "'", ", ", "/", "@"])
def test_addresses_in_a_row_are_found_apart(between: str) -> None:
    """What joins two addresses belongs to neither."""
    assert found(f"a@b.com{between}jo@x.org") == ["a@b.com", "jo@x.org"]
