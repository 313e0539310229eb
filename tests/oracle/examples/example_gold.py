"""The gold calls of tasks of the example packs, derived from the templates' texts by hand."""

from __future__ import annotations

from typing import Any

import msgspec
from example_packs import Call


class Gold(msgspec.Struct, frozen=True):
    """The calls that a template's task asks for, derived from its text by hand."""

    pack: str
    template: str
    slots: dict[str, Any]
    calls: list[Call]
    initial: dict[str, Any] = {}

    @property
    def task(self) -> dict[str, Any]:
        """What a predicate reads of the task."""
        return {
            "template_id": self.template,
            "slots": self.slots,
            "slots_initial": {**self.slots, **self.initial},
        }


def _library(template: str, slots: dict[str, Any], *calls: Call) -> Gold:
    return Gold("library_lending", template, slots, list(calls))


def _clinic(template: str, slots: dict[str, Any], *calls: Call, **initial: Any) -> Gold:
    return Gold("bilingual_clinic", template, slots, list(calls), initial)


GOLD = [
    _library("lib_find_by_title", {"title": "Beloved"}, ("find_book", {"title": "Beloved"})),
    _library("lib_status_single", {"book_id": "BK-104"}, ("get_loan_status", {"book_id": "BK-104"})),
    _library(
        "lib_status_parallel",
        {"first_book": "BK-106", "second_book": "BK-103"},
        ("get_loan_status", {"book_id": "BK-106"}),
        ("get_loan_status", {"book_id": "BK-103"}),
    ),
    _library(
        "lib_loans_and_status_parallel",
        {"patron_id": "PT-13", "book_id": "BK-102"},
        ("list_loans", {"patron_id": "PT-13"}),
        ("get_loan_status", {"book_id": "BK-102"}),
    ),
    _library("lib_unknown_card", {"patron_id": "PT-19"}, ("list_loans", {"patron_id": "PT-19"})),
    _library(
        "lib_borrow",
        {"patron_id": "PT-12", "book_id": "BK-105"},
        ("borrow_book", {"patron_id": "PT-12", "book_id": "BK-105", "confirm": True}),
    ),
    _library(
        "lib_borrow_lent",
        {"patron_id": "PT-11", "book_id": "BK-106"},
        ("borrow_book", {"patron_id": "PT-11", "book_id": "BK-106", "confirm": True}),
    ),
    _library(
        "lib_borrow_over_limit",
        {"patron_id": "PT-13", "book_id": "BK-101"},
        ("borrow_book", {"patron_id": "PT-13", "book_id": "BK-101", "confirm": True}),
    ),
    _library("lib_irrelevant_reservation", {"thing": "the projector"}),
    _clinic(
        "clinic_doctors_of_department", {"department": "dental"}, ("search_doctors", {"department": "dental"})
    ),
    _clinic(
        "clinic_openings_of_doctor",
        {"doctor_id": "DOC-11", "from_date": "2026-05-05"},
        ("list_openings", {"doctor_id": "DOC-11", "from_date": "2026-05-05"}),
    ),
    _clinic(
        "clinic_openings_of_two_doctors",
        {"first_doctor": "DOC-12", "second_doctor": "DOC-16"},
        ("list_openings", {"doctor_id": "DOC-12"}),
        ("list_openings", {"doctor_id": "DOC-16"}),
    ),
    _clinic(
        "clinic_openings_of_found_doctor",
        {"department": "general"},
        ("search_doctors", {"department": "general", "language": "es"}),
        ("list_openings", {"doctor_id": "DOC-11"}),
    ),
    _clinic("clinic_unknown_doctor", {"doctor_id": "DOC-18"}, ("list_openings", {"doctor_id": "DOC-18"})),
    _clinic(
        "clinic_book",
        {"patient_id": "PAT-107", "opening_id": "OPN-303"},
        ("book_appointment", {"patient_id": "PAT-107", "opening_id": "OPN-303", "confirmed": True}),
    ),
    _clinic(
        "clinic_book_after_preview",
        {"patient_id": "PAT-101", "opening_id": "OPN-304"},
        ("book_appointment", {"patient_id": "PAT-101", "opening_id": "OPN-304", "confirmed": False}),
        ("book_appointment", {"patient_id": "PAT-101", "opening_id": "OPN-304", "confirmed": True}),
    ),
    _clinic(
        "clinic_book_other_opening",
        {"patient_id": "PAT-104", "opening_id": "OPN-312"},
        ("book_appointment", {"patient_id": "PAT-104", "opening_id": "OPN-312", "confirmed": True}),
        opening_id="OPN-301",
    ),
    _clinic(
        "clinic_book_first_opening",
        {"patient_id": "PAT-105", "doctor_id": "DOC-13"},
        ("list_openings", {"doctor_id": "DOC-13"}),
        ("book_appointment", {"patient_id": "PAT-105", "opening_id": "OPN-306", "confirmed": True}),
    ),
    _clinic(
        "clinic_book_taken",
        {"patient_id": "PAT-106", "opening_id": "OPN-310"},
        ("book_appointment", {"patient_id": "PAT-106", "opening_id": "OPN-310", "confirmed": True}),
    ),
    _clinic(
        "clinic_cancel",
        {"appointment_id": "APT-505"},
        ("cancel_appointment", {"appointment_id": "APT-505", "confirmed": True}),
    ),
    _clinic(
        "clinic_reschedule",
        {"appointment_id": "APT-502", "opening_id": "OPN-317"},
        ("reschedule_appointment", {"appointment_id": "APT-502", "opening_id": "OPN-317", "confirmed": True}),
    ),
    _clinic(
        "clinic_cancel_two",
        {"first_appointment": "APT-501", "second_appointment": "APT-506"},
        ("cancel_appointment", {"appointment_id": "APT-501", "confirmed": True}),
        ("cancel_appointment", {"appointment_id": "APT-506", "confirmed": True}),
    ),
    _clinic(
        "clinic_cancel_next",
        {"patient_id": "PAT-102"},
        ("get_patient", {"patient_id": "PAT-102"}),
        ("cancel_appointment", {"appointment_id": "APT-502", "confirmed": True}),
    ),
    _clinic(
        "clinic_cancel_unknown",
        {"appointment_id": "APT-592"},
        ("cancel_appointment", {"appointment_id": "APT-592", "confirmed": True}),
    ),
    _clinic("clinic_change_unspecified", {"day": "2026-05-06"}),
    _clinic(
        "clinic_prescriptions", {"patient_id": "PAT-101"}, ("list_prescriptions", {"patient_id": "PAT-101"})
    ),
    _clinic(
        "clinic_refill_other_days",
        {"prescription_id": "RX-704", "days": 90},
        ("request_refill", {"prescription_id": "RX-704", "days": 90, "confirmed": True}),
        days=30,
    ),
    _clinic(
        "clinic_refill_first_listed",
        {"patient_id": "PAT-101", "days": 30},
        ("list_prescriptions", {"patient_id": "PAT-101"}),
        ("request_refill", {"prescription_id": "RX-701", "days": 30, "confirmed": True}),
    ),
    _clinic(
        "clinic_refill_too_long",
        {"prescription_id": "RX-706", "days": 30},
        ("request_refill", {"prescription_id": "RX-706", "days": 30, "confirmed": True}),
    ),
    _clinic(
        "clinic_overview",
        {"patient_id": "PAT-102", "invoice_id": "INV-905"},
        ("get_patient", {"patient_id": "PAT-102"}),
        ("list_prescriptions", {"patient_id": "PAT-102"}),
        ("get_invoice", {"invoice_id": "INV-905"}),
    ),
]
