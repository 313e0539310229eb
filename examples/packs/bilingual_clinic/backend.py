"""The clinic's oracle: doctors and their openings, appointments, prescriptions and their refills, invoices.

Everything comes from the caller: rows from `reset`, the time from `ctx.clock`. Dates and times of the rows are the
clinic's, and `ctx.clock` is read as the clock on its wall. A request that the clinic turns down is an answer,
`{"error": {"code": ...}}`; raising would mean that the oracle itself is broken.

A tool that changes something refuses first, then waits for the patient's word, and only then changes the rows.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

DEPARTMENTS = ("general", "dental", "prenatal", "renal")
LANGUAGES = ("en", "es")
NOTICE = timedelta(hours=48)
"""How long before its time an appointment may still be moved or cancelled."""
PREPARATION_DAYS = 2
"""How long the pharmacy takes over a refill."""

Row = dict[str, Any]


class RefusalError(Exception):
    """The clinic turns a request down; `call_tool` answers with it."""

    def __init__(self, code: str, **details: Any) -> None:
        super().__init__(code)
        self.error = {"code": code, **details}


class Clinic:
    """The rows of one episode, and the tools that read and change them."""

    def __init__(self) -> None:
        self.fixtures: dict[str, list[Row]] | None = None
        self.tables: dict[str, list[Row]] = {}

    def reset(self, fixtures: dict[str, list[Row]] | None) -> None:
        """Start from the given rows, or without any from those of the reset before."""
        if fixtures is not None:
            self.fixtures = copy.deepcopy(fixtures)
        if self.fixtures is None:
            raise ValueError("the first reset needs the rows of fixtures.json")
        self.tables = {**copy.deepcopy(self.fixtures), "refills": []}

    def search_doctors(self, arguments: Row, ctx: Any) -> Row:
        """The doctors of a department who take patients."""
        del ctx
        department = choice(arguments, "department", DEPARTMENTS)
        language = choice(arguments, "language", LANGUAGES) if "language" in arguments else None
        found = [
            {key: doctor[key] for key in ("doctor_id", "name", "languages")}
            for doctor in self.tables["doctors"]
            if doctor["department"] == department
            and doctor["accepting"]
            and (language is None or language in doctor["languages"])
        ]
        return {"department": department, "doctors": found}

    def list_openings(self, arguments: Row, ctx: Any) -> Row:
        """The free times of a doctor."""
        del ctx
        doctor = self._row("doctors", arguments)
        first = day(arguments, "from_date") if "from_date" in arguments else ""
        free = [
            {key: opening[key] for key in ("opening_id", "date", "time")}
            for opening in self.tables["openings"]
            if opening["doctor_id"] == doctor["doctor_id"]
            and opening["status"] == "open"
            and opening["date"] >= first
        ]
        return {"doctor_id": doctor["doctor_id"], "openings": sorted(free, key=when)}

    def get_patient(self, arguments: Row, ctx: Any) -> Row:
        """A patient's record, with what is still to come."""
        patient = self._row("patients", arguments)
        to_come = [
            {key: appointment[key] for key in ("appointment_id", "doctor_id", "date", "time")}
            for appointment in self.tables["appointments"]
            if appointment["patient_id"] == patient["patient_id"]
            and appointment["status"] == "booked"
            and moment(appointment, ctx) >= ctx.clock
        ]
        return {**patient, "appointments": sorted(to_come, key=when)}

    def book_appointment(self, arguments: Row, ctx: Any) -> Row:
        """Give an opening to a patient."""
        del ctx
        confirmed = flag(arguments, "confirmed")
        patient = self._row("patients", arguments)
        opening = self._free(arguments)
        booking = {"patient_id": patient["patient_id"], **place(opening)}
        if not confirmed:
            return {"outcome": "needs_confirmation", **booking}
        appointment_id = self._next_id("appointments", "APT")
        doctor = self._row("doctors", opening)
        opening["status"] = "taken"
        self.tables["appointments"].append(
            {
                "appointment_id": appointment_id,
                **booking,
                "department": doctor["department"],
                "status": "booked",
            }
        )
        return {"outcome": "booked", "appointment_id": appointment_id, **booking}

    def reschedule_appointment(self, arguments: Row, ctx: Any) -> Row:
        """Move an appointment to another opening, and free the one that it had."""
        confirmed = flag(arguments, "confirmed")
        appointment = self._changeable(arguments, ctx)
        opening = self._free(arguments)
        move = {"appointment_id": appointment["appointment_id"], **place(opening)}
        if not confirmed:
            return {"outcome": "needs_confirmation", **move}
        doctor = self._row("doctors", opening)
        self._row("openings", appointment)["status"] = "open"
        opening["status"] = "taken"
        appointment.update(place(opening), department=doctor["department"])
        return {"outcome": "rescheduled", **move}

    def cancel_appointment(self, arguments: Row, ctx: Any) -> Row:
        """Cancel an appointment, and free its opening."""
        confirmed = flag(arguments, "confirmed")
        appointment = self._changeable(arguments, ctx)
        answer = {key: appointment[key] for key in ("appointment_id", "date", "time")}
        if not confirmed:
            return {"outcome": "needs_confirmation", **answer}
        appointment["status"] = "cancelled"
        self._row("openings", appointment)["status"] = "open"
        return {"outcome": "cancelled", **answer}

    def list_prescriptions(self, arguments: Row, ctx: Any) -> Row:
        """A patient's prescriptions, in the order in which they were written."""
        del ctx
        patient = self._row("patients", arguments)
        mine = [
            {key: prescription[key] for key in ("prescription_id", "medicine", "status", "days_left")}
            for prescription in self.tables["prescriptions"]
            if prescription["patient_id"] == patient["patient_id"]
        ]
        return {"patient_id": patient["patient_id"], "prescriptions": mine}

    def request_refill(self, arguments: Row, ctx: Any) -> Row:
        """Order a refill, and take its days off what is left of the prescription."""
        confirmed = flag(arguments, "confirmed")
        prescription = self._row("prescriptions", arguments)
        days = whole(arguments, "days", 30, 90)
        if prescription["status"] != "active":
            raise RefusalError(
                "prescription_expired", entity="prescription", id=prescription["prescription_id"]
            )
        if days > prescription["days_left"]:
            raise RefusalError(
                "not_enough_left", entity="prescription", id=prescription["prescription_id"], field="days"
            )
        order = {
            "prescription_id": prescription["prescription_id"],
            "days": days,
            "ready_on": (ctx.clock.date() + timedelta(days=PREPARATION_DAYS)).isoformat(),
        }
        if not confirmed:
            return {"outcome": "needs_confirmation", **order}
        refill = {"refill_id": self._next_id("refills", "RF"), **order}
        prescription["days_left"] -= days
        self.tables["refills"].append(refill)
        return {"outcome": "ordered", **refill}

    def get_invoice(self, arguments: Row, ctx: Any) -> Row:
        """An invoice, and whether it should have been paid by now."""
        invoice = self._row("invoices", arguments)
        overdue = invoice["status"] == "open" and invoice["due_on"] < ctx.clock.date().isoformat()
        return {**invoice, "currency": "EUR", "overdue": overdue}

    def _row(self, table: str, arguments: Row) -> Row:
        """The row of a table that the argument, or the column, of its key names."""
        entity = table.removesuffix("s")
        field = f"{entity}_id"
        wanted = text(arguments, field)
        for row in self.tables[table]:
            if row[field] == wanted:
                return row
        raise RefusalError("not_found", entity=entity, field=field, id=wanted)

    def _free(self, arguments: Row) -> Row:
        opening = self._row("openings", arguments)
        if opening["status"] != "open":
            raise RefusalError("opening_taken", entity="opening", id=opening["opening_id"])
        return opening

    def _changeable(self, arguments: Row, ctx: Any) -> Row:
        appointment = self._row("appointments", arguments)
        details = {"entity": "appointment", "id": appointment["appointment_id"]}
        if appointment["status"] == "cancelled":
            raise RefusalError("already_cancelled", **details)
        if moment(appointment, ctx) - ctx.clock < NOTICE:
            raise RefusalError("too_late", **details)
        return appointment

    def _next_id(self, table: str, prefix: str) -> str:
        """One more than the highest number in the table; nothing is drawn."""
        field = f"{table.removesuffix('s')}_id"
        numbers = [int(row[field].rpartition("-")[2]) for row in self.tables[table]]
        return f"{prefix}-{max(numbers, default=0) + 1}"


def place(opening: Row) -> Row:
    """What an appointment takes over from its opening."""
    return {key: opening[key] for key in ("opening_id", "doctor_id", "date", "time")}


def when(row: Row) -> tuple[str, str]:
    """What rows with a time are sorted by."""
    return row["date"], row["time"]


def moment(row: Row, ctx: Any) -> datetime:
    """When an appointment is, as a time that can be compared with the clock."""
    return datetime.fromisoformat(f"{row['date']}T{row['time']}").replace(tzinfo=ctx.clock.tzinfo)


def text(arguments: Row, field: str) -> str:
    """The text argument of that name."""
    value = arguments.get(field)
    if not isinstance(value, str):
        raise invalid(field, "a string")
    return value


def choice(arguments: Row, field: str, known: Sequence[str]) -> str:
    """The argument of that name, one of the known texts."""
    value = text(arguments, field)
    if value not in known:
        raise invalid(field, f"one of {', '.join(known)}")
    return value


def day(arguments: Row, field: str) -> str:
    """The argument of that name, a day as YYYY-MM-DD."""
    value = text(arguments, field)
    try:
        exact = date.fromisoformat(value).isoformat() == value
    except ValueError:
        exact = False
    if not exact:
        raise invalid(field, "a day as YYYY-MM-DD")
    return value


def whole(arguments: Row, field: str, least: int, most: int) -> int:
    """The argument of that name, an integer within bounds; true is not 1."""
    value = arguments.get(field)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise invalid(field, f"an integer from {least} to {most}")
    return value


def flag(arguments: Row, field: str) -> bool:
    """The boolean argument of that name, false if it isn't there."""
    value = arguments.get(field, False)
    if not isinstance(value, bool):
        raise invalid(field, "true or false")
    return value


def invalid(field: str, expected: str) -> RefusalError:
    """An argument that the tool can't work with."""
    return RefusalError("invalid_argument", field=field, message=f"{field} must be {expected}")


CLINIC = Clinic()

TOOLS: dict[str, Callable[[Row, Any], Row]] = {
    "search_doctors": CLINIC.search_doctors,
    "list_openings": CLINIC.list_openings,
    "get_patient": CLINIC.get_patient,
    "book_appointment": CLINIC.book_appointment,
    "reschedule_appointment": CLINIC.reschedule_appointment,
    "cancel_appointment": CLINIC.cancel_appointment,
    "list_prescriptions": CLINIC.list_prescriptions,
    "request_refill": CLINIC.request_refill,
    "get_invoice": CLINIC.get_invoice,
}


def list_tools() -> list[str]:
    """The tools that this oracle implements."""
    return list(TOOLS)


def reset(*, ctx: Any, fixtures: dict[str, list[Row]] | None = None) -> None:
    """Forget what happened and start from the rows."""
    del ctx
    CLINIC.reset(fixtures)


def call_tool(name: str, arguments: Row, *, ctx: Any) -> Row:
    """Answer one call."""
    if name not in TOOLS:
        return {"error": {"code": "unknown_tool", "id": name}}
    try:
        return copy.deepcopy(TOOLS[name](arguments, ctx))
    except RefusalError as refusal:
        return {"error": refusal.error}


def get_state() -> dict[str, list[Row]]:
    """Every row as it stands; the caller may do with it what they like."""
    return copy.deepcopy(CLINIC.tables)
