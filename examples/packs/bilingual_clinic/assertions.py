"""What must be true after a task of the clinic: of its rows, of what the tools answered, and of the way there.

Each assertion raises `AssertionError` with what it expected and what it found. They state the clinic's rules on their
own, from the task and the rows; none of them asks the backend. What `task["slots"]` holds is what the patient wants in
the end, after corrections.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

PREPARATION_DAYS = 2
DOCTORS = ("doctor_id", "first_doctor", "second_doctor")
OUTCOMES = {
    "book_appointment": "booked",
    "reschedule_appointment": "rescheduled",
    "cancel_appointment": "cancelled",
    "request_refill": "ordered",
}
APPOINTMENTS = ("appointment_id", "first_appointment", "second_appointment")


def check(condition: object, message: str) -> None:
    """Raise unless the condition holds; an `assert` statement would vanish under `python -O`."""
    if not condition:
        raise AssertionError(message)


def calls_of(trace: Any, tool: str) -> list[Any]:
    """The calls of a tool, in order."""
    return [call for call in trace if call["tool"] == tool]


def only_call(trace: Any, tool: str, **arguments: Any) -> Any:
    """The one call of a tool, which had these arguments."""
    calls = calls_of(trace, tool)
    check(len(calls) == 1, f"{tool} was called {len(calls)} times; once was expected")
    for name, value in arguments.items():
        given = calls[0]["arguments"].get(name)
        check(given == value, f"{tool} was called with {name} {given!r}; {value!r} was expected")
    return calls[0]


def code_of(result: Any) -> Any:
    """The code of a refusal, or None."""
    return result.get("error", {}).get("code")


def wanted(task: Any, names: Any) -> list[Any]:
    """The values of those of the named slots that the task has."""
    return [task["slots"][name] for name in names if name in task["slots"]]


def row_of(state: Any, table: str, identifier: Any) -> Any:
    """The row of that id."""
    field = f"{table.removesuffix('s')}_id"
    rows = [row for row in state[table] if row[field] == identifier]
    check(len(rows) == 1, f"{table} has {len(rows)} rows {identifier!r}; one was expected")
    return rows[0]


def opening_ids(result: Any) -> list[Any]:
    """The openings that a list of them has, in its order."""
    return [opening["opening_id"] for opening in result.get("openings", [])]


def free_times(state: Any, doctor_id: Any, first: str = "") -> list[str]:
    """The openings of a doctor that are open, the earliest first."""
    rows = [
        (opening["date"], opening["time"], opening["opening_id"])
        for opening in state["openings"]
        if opening["doctor_id"] == doctor_id and opening["status"] == "open" and opening["date"] >= first
    ]
    return [opening_id for _, _, opening_id in sorted(rows)]


def check_booked(state: Any, patient_id: Any, opening_id: Any) -> None:
    """The opening is taken, by one appointment, and that is the patient's."""
    status = row_of(state, "openings", opening_id)["status"]
    check(status == "taken", f"{opening_id} is {status}; taken was expected")
    booked = [
        row["patient_id"]
        for row in state["appointments"]
        if row["opening_id"] == opening_id and row["status"] == "booked"
    ]
    check(booked == [patient_id], f"{opening_id} is booked for {booked}; {[patient_id]} was expected")


def check_cancelled(state: Any, appointment_id: Any) -> None:
    """The appointment is cancelled, and its opening is free again."""
    appointment = row_of(state, "appointments", appointment_id)
    check(appointment["status"] == "cancelled", f"{appointment_id} is {appointment['status']}")
    opening = row_of(state, "openings", appointment["opening_id"])
    check(opening["status"] == "open", f"{opening['opening_id']} is {opening['status']}; open was expected")


def check_refilled(state: Any, ctx: Any, prescription_id: Any, days: Any) -> None:
    """One refill was ordered, this one, and it is ready when the pharmacy says."""
    ready_on = (ctx.clock.date() + timedelta(days=PREPARATION_DAYS)).isoformat()
    ordered = [(row["prescription_id"], row["days"], row["ready_on"]) for row in state["refills"]]
    expected = [(prescription_id, days, ready_on)]
    check(ordered == expected, f"refills {ordered} were ordered; {expected} was expected")


# What the tools answered


def assert_doctors_listed(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The search was made in the department, and gave all its doctors who take patients and no others."""
    del ctx
    department = task["slots"]["department"]
    call = only_call(trace, "search_doctors", department=department)
    language = call["arguments"].get("language")
    expected = [
        doctor["doctor_id"]
        for doctor in state["doctors"]
        if doctor["department"] == department
        and doctor["accepting"]
        and (language is None or language in doctor["languages"])
    ]
    found = [doctor["doctor_id"] for doctor in call["result"].get("doctors", [])]
    check(expected, f"nobody takes patients in {department}")
    check(found == expected, f"doctors {found} were found; {expected} was expected")


def assert_openings_listed(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """Each doctor of the task was asked for once, and the answers are their free times from the wanted day."""
    del ctx
    expected = wanted(task, DOCTORS)
    calls = calls_of(trace, "list_openings")
    asked = [call["arguments"].get("doctor_id") for call in calls]
    check(
        sorted(asked, key=str) == sorted(expected), f"doctors {asked} were asked for; {expected} was expected"
    )
    first = task["slots"].get("from_date", "")
    for call in calls:
        given = call["arguments"].get("from_date", "")
        check(given == first, f"openings were listed from {given!r}; {first!r} was expected")
        listed = opening_ids(call["result"])
        free = free_times(state, call["arguments"]["doctor_id"], first)
        check(listed == free, f"openings {listed} were listed; {free} was expected")


def assert_prescriptions_listed(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The patient's prescriptions were listed, all of them and only theirs."""
    del ctx
    patient = task["slots"]["patient_id"]
    result = only_call(trace, "list_prescriptions", patient_id=patient)["result"]
    expected = [row["prescription_id"] for row in state["prescriptions"] if row["patient_id"] == patient]
    listed = [row["prescription_id"] for row in result.get("prescriptions", [])]
    check(result.get("patient_id") == patient, f"the list is that of {result.get('patient_id')!r}")
    check(listed == expected, f"prescriptions {listed} were listed; {expected} was expected")


def assert_invoice_reported(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The invoice was looked up, and the answer agrees with the rows and the day."""
    wanted_id = task["slots"]["invoice_id"]
    result = only_call(trace, "get_invoice", invoice_id=wanted_id)["result"]
    invoice = row_of(state, "invoices", wanted_id)
    for field in ("invoice_id", "amount_cents", "due_on", "status"):
        said = result.get(field)
        check(said == invoice[field], f"{field} of {wanted_id} is {invoice[field]!r}; {said!r} was reported")
    overdue = invoice["status"] == "open" and invoice["due_on"] < ctx.clock.date().isoformat()
    check(result.get("overdue") is overdue, f"{wanted_id} was reported as overdue: {result.get('overdue')}")


def assert_unknown_id_reported(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The one call named the patient's id, had their word if it needs that, and the id belongs to nothing."""
    del state, ctx
    check(len(trace) == 1, f"{len(trace)} calls were made; one was expected")
    check(trace[0]["arguments"].get("confirmed", True) is True, f"{trace[0]['tool']} was not confirmed")
    result = trace[0]["result"]
    check(code_of(result) == "not_found", f"the call came to {result}")
    named, given = result["error"].get("id"), list(task["slots"].values())
    check(named in given, f"{named!r} was looked up; one of {given} was expected")


def assert_booking_refused(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The booking was tried once and refused, and the opening is still that of one other appointment."""
    del ctx
    slots = task["slots"]
    call = only_call(
        trace,
        "book_appointment",
        patient_id=slots["patient_id"],
        opening_id=slots["opening_id"],
        confirmed=True,
    )
    check(code_of(call["result"]) == "opening_taken", f"the booking came to {call['result']}")
    booked = [
        row["appointment_id"]
        for row in state["appointments"]
        if row["opening_id"] == slots["opening_id"] and row["status"] == "booked"
    ]
    check(len(booked) == 1, f"{slots['opening_id']} has the appointments {booked}; one was expected")


def assert_refill_refused(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The refill was tried once and refused because too little is left, and none was ordered."""
    del ctx
    slots = task["slots"]
    call = only_call(
        trace, "request_refill", prescription_id=slots["prescription_id"], days=slots["days"], confirmed=True
    )
    check(code_of(call["result"]) == "not_enough_left", f"the refill came to {call['result']}")
    ordered = [row["refill_id"] for row in state["refills"]]
    check(not ordered, f"refills {ordered} were ordered in spite of the refusal")


# What became of the rows


def assert_appointment_booked(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The opening that the patient wants in the end is theirs."""
    del trace, ctx
    check_booked(state, task["slots"]["patient_id"], task["slots"]["opening_id"])


def assert_first_opening_booked(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The first opening that was listed for the doctor went to the patient."""
    del ctx
    slots = task["slots"]
    listed = opening_ids(only_call(trace, "list_openings", doctor_id=slots["doctor_id"])["result"])
    check(listed, f"no opening was listed for {slots['doctor_id']}")
    check_booked(state, slots["patient_id"], listed[0])
    left, expected = free_times(state, slots["doctor_id"]), listed[1:]
    check(left == expected, f"openings {left} of {slots['doctor_id']} are left; {expected} was expected")


def assert_appointments_cancelled(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """Each appointment of the task is cancelled, and no other was."""
    del ctx
    expected = wanted(task, APPOINTMENTS)
    for appointment_id in expected:
        check_cancelled(state, appointment_id)
    cancelled = [
        call["arguments"].get("appointment_id")
        for call in calls_of(trace, "cancel_appointment")
        if call["result"].get("outcome") == "cancelled"
    ]
    check(sorted(cancelled) == sorted(expected), f"{cancelled} were cancelled; {expected} was expected")


def assert_next_appointment_cancelled(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The first of the patient's appointments to come is cancelled, the others stand."""
    del ctx
    patient = task["slots"]["patient_id"]
    to_come = only_call(trace, "get_patient", patient_id=patient)["result"].get("appointments", [])
    check(to_come, f"no appointment was listed for {patient}")
    check_cancelled(state, to_come[0]["appointment_id"])
    for appointment in to_come[1:]:
        status = row_of(state, "appointments", appointment["appointment_id"])["status"]
        check(status == "booked", f"{appointment['appointment_id']} is {status}; booked was expected")


def assert_appointment_moved(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The appointment has the new opening, with its doctor and time, and nobody else has."""
    del trace, ctx
    slots = task["slots"]
    appointment = row_of(state, "appointments", slots["appointment_id"])
    opening = row_of(state, "openings", slots["opening_id"])
    for field in ("opening_id", "doctor_id", "date", "time"):
        found = appointment[field]
        check(
            found == opening[field],
            f"{field} of the appointment is {found!r}; {opening[field]!r} was expected",
        )
    check_booked(state, appointment["patient_id"], slots["opening_id"])


def assert_refill_ordered(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """One refill was ordered, of the prescription and for the days that the patient wants in the end."""
    del trace
    check_refilled(state, ctx, task["slots"]["prescription_id"], task["slots"]["days"])


def assert_first_prescription_refilled(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """One refill was ordered, of the first prescription that was listed for the patient."""
    slots = task["slots"]
    result = only_call(trace, "list_prescriptions", patient_id=slots["patient_id"])["result"]
    check(result.get("prescriptions"), f"no prescription was listed for {slots['patient_id']}")
    check_refilled(state, ctx, result["prescriptions"][0]["prescription_id"], slots["days"])


# The way there


def assert_openings_of_first_match(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """Doctors who speak Spanish were searched for, and then the openings listed of the first that was found."""
    del task, ctx
    search, listing = only_call(trace, "search_doctors", language="es"), only_call(trace, "list_openings")
    tools = [call["tool"] for call in trace]
    check(tools == ["search_doctors", "list_openings"], f"the calls were {tools}")
    doctors = search["result"].get("doctors", [])
    check(doctors, "the search found no doctor")
    asked, first = listing["arguments"].get("doctor_id"), doctors[0]["doctor_id"]
    check(asked == first, f"the openings of {asked!r} were listed; {first!r} was found first")
    listed, free = opening_ids(listing["result"]), free_times(state, first)
    check(listed == free, f"openings {listed} were listed; {free} was expected")


def assert_changed_once(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """Of the calls that change rows one was confirmed, it did what it says, and none was refused."""
    del state, task, ctx
    calls = [call for call in trace if call["tool"] in OUTCOMES]
    confirmed = [call for call in calls if call["arguments"].get("confirmed") is True]
    check(len(confirmed) == 1, f"{len(confirmed)} confirmed calls were made; one was expected")
    outcome, expected = confirmed[0]["result"].get("outcome"), OUTCOMES[confirmed[0]["tool"]]
    check(outcome == expected, f"{confirmed[0]['tool']} came to {outcome!r}; {expected!r} was expected")
    refused = [code_of(call["result"]) for call in calls if "error" in call["result"]]
    check(not refused, f"calls were refused with {refused}")


def assert_previewed_before_booking(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The booking was shown before it was made: the same call twice, and only the second confirmed."""
    del state, task, ctx
    calls = calls_of(trace, "book_appointment")
    check(len(calls) == 2, f"book_appointment was called {len(calls)} times; twice was expected")
    outcomes = [call["result"].get("outcome") for call in calls]
    check(outcomes == ["needs_confirmation", "booked"], f"the calls came to {outcomes}")
    for name in ("patient_id", "opening_id"):
        shown, made = (call["arguments"].get(name) for call in calls)
        check(shown == made, f"{name} {shown!r} was shown, and {made!r} was booked")


def assert_superseded_value_unused(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """What the patient took back was never called with; what they said instead was."""
    del state, ctx
    final, initial = task["slots"], task["slots_initial"]
    corrected = [name for name in final if final[name] != initial[name]]
    check(corrected, "the patient corrected nothing")
    for name in corrected:
        used = [call["arguments"][name] for call in trace if name in call["arguments"]]
        check(initial[name] not in used, f"{name} {initial[name]!r} was used after it was taken back")
        check(final[name] in used, f"{name} {final[name]!r} was never used")


def assert_patient_read_first(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The patient's record was opened before anything else of theirs."""
    del state, ctx
    patient = task["slots"]["patient_id"]
    opened = only_call(trace, "get_patient", patient_id=patient)["result"].get("patient_id")
    check(opened == patient, f"the record of {opened!r} was opened; {patient!r} was expected")
    tools = [call["tool"] for call in trace]
    check(tools[0] == "get_patient", f"{tools[0]} was called first; get_patient was expected")
    check(len(tools) > 1, "nothing but the record was looked up")


def assert_nothing_refused(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """No call was refused: nothing was asked for that the clinic does not have."""
    del state, task, ctx
    refused = [call["tool"] for call in trace if code_of(call["result"]) is not None]
    check(not refused, f"calls were refused: {', '.join(refused)}; none was expected")


def assert_no_tool_called(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """Nothing was called."""
    del state, task, ctx
    called = [call["tool"] for call in trace]
    check(not called, f"{called} were called; no call was expected")


ASSERTIONS = {
    "assert_doctors_listed": assert_doctors_listed,
    "assert_openings_listed": assert_openings_listed,
    "assert_prescriptions_listed": assert_prescriptions_listed,
    "assert_invoice_reported": assert_invoice_reported,
    "assert_unknown_id_reported": assert_unknown_id_reported,
    "assert_booking_refused": assert_booking_refused,
    "assert_refill_refused": assert_refill_refused,
    "assert_appointment_booked": assert_appointment_booked,
    "assert_first_opening_booked": assert_first_opening_booked,
    "assert_appointments_cancelled": assert_appointments_cancelled,
    "assert_next_appointment_cancelled": assert_next_appointment_cancelled,
    "assert_appointment_moved": assert_appointment_moved,
    "assert_refill_ordered": assert_refill_ordered,
    "assert_first_prescription_refilled": assert_first_prescription_refilled,
    "assert_openings_of_first_match": assert_openings_of_first_match,
    "assert_changed_once": assert_changed_once,
    "assert_previewed_before_booking": assert_previewed_before_booking,
    "assert_superseded_value_unused": assert_superseded_value_unused,
    "assert_patient_read_first": assert_patient_read_first,
    "assert_nothing_refused": assert_nothing_refused,
    "assert_no_tool_called": assert_no_tool_called,
}

# Read from the source, not from the module: literals only. `trace: True` can be judged without the rows.
ASSERTION_CAPABILITIES = {
    "assert_doctors_listed": {"category": "result"},
    "assert_openings_listed": {"category": "result"},
    "assert_prescriptions_listed": {"category": "result"},
    "assert_invoice_reported": {"category": "result"},
    "assert_unknown_id_reported": {"category": "result", "trace": True},
    "assert_booking_refused": {"category": "result"},
    "assert_refill_refused": {"category": "result"},
    "assert_appointment_booked": {"category": "state"},
    "assert_first_opening_booked": {"category": "state"},
    "assert_appointments_cancelled": {"category": "state"},
    "assert_next_appointment_cancelled": {"category": "state"},
    "assert_appointment_moved": {"category": "state"},
    "assert_refill_ordered": {"category": "state"},
    "assert_first_prescription_refilled": {"category": "state"},
    "assert_openings_of_first_match": {"category": "path"},
    "assert_changed_once": {"category": "path", "trace": True},
    "assert_previewed_before_booking": {"category": "path", "trace": True},
    "assert_superseded_value_unused": {"category": "path", "trace": True},
    "assert_patient_read_first": {"category": "path", "trace": True},
    "assert_nothing_refused": {"category": "path", "trace": True},
    "assert_no_tool_called": {"category": "path", "trace": True},
}
