"""Why a pack, or its run options, can't be loaded or are odd: every code of loading, with its mend.

Beside these, a file that is no YAML 1.2 or JSON is refused with the codes of the reader of documents: `yaml_syntax`,
`json_syntax`, `duplicate_key`, `document_too_large` and the like. What checks report has codes of its own, in
`oracle/checks`.
"""

from __future__ import annotations

from averment.oracle.findings import Reason

__all__ = ["CODES"]

_FILES = {
    "pack_not_found": Reason(
        "Nothing is at the path of the pack.", "Give the folder that holds `manifest.yaml`."
    ),
    "not_a_directory": Reason(
        "The path of the pack is a file.", "Give the folder that holds `manifest.yaml`."
    ),
    "manifest_missing": Reason(
        "The folder has no `manifest.yaml`, so it is no pack.",
        "Give the folder of a pack, or make one with `averment pack new`.",
    ),
    "file_missing": Reason(
        "A file that the pack needs or names is not there.",
        "Add the file, or correct its path in the manifest.",
    ),
    "outside_pack": Reason(
        "A path leads out of the pack, or into a folder that is not part of its fingerprint.",
        "Put the file into the pack and write its path relative to the pack's folder.",
    ),
    "symlink_refused": Reason(
        "The pack holds a symbolic link, so what it contains depends on where it lies.",
        "Replace the link with the file it points to.",
    ),
    "not_a_regular_file": Reason(
        "What stands at a path is no regular file: a folder, a pipe, a socket or a device.",
        "Put a regular file there, or remove it from the pack.",
    ),
    "file_unreadable": Reason("The system refuses to read a file or folder.", "Check its permissions."),
    "name_not_text": Reason("The name of a file is not UTF-8.", "Rename the file."),
    "too_many_files": Reason(
        "The pack has more files than are looked at.", "Keep only what the pack needs in its folder."
    ),
    "pack_too_large": Reason(
        "The files of the pack are too large together.", "Keep only what the pack needs in its folder."
    ),
    "both_oracles": Reason(
        "The manifest names a backend and an endpoint; a pack has one oracle.",
        "Remove `paths.backend` or `paths.endpoint`.",
    ),
    "no_oracle": Reason(
        "The pack has neither a `backend.py` nor an `endpoint_config.yaml`.",
        "Add one of the two, or name it in `paths`.",
    ),
    "endpoint_config_unused": Reason(
        "Warning: an `endpoint_config.yaml` lies beside `backend.py`, and no path says which is the oracle, so it is "
        "the backend.",
        "Name the oracle in `paths`, or remove the other file.",
    ),
}

_SHAPES = {
    "wrong_root": Reason(
        "The file as a whole has the wrong type.", "Write the file as its reference page shows it."
    ),
    "missing_field": Reason("A required key is missing.", "Add the key."),
    "wrong_type": Reason("A value has the wrong type.", "Write a value of the expected type."),
    "empty_value": Reason("A value is empty or blank.", "Write the value, or leave the key out."),
    "out_of_range": Reason("A number is too small or too large.", "Write a number in the range."),
    "boolean_word": Reason(
        "`yes`, `no`, `on`, `off` or a quoted `true` stands where true or false is expected; in YAML 1.2 these are "
        "texts.",
        "Write `true` or `false`, without quotes.",
    ),
    "unknown_field": Reason(
        "A key that is none of those that this mapping may have; the contract closes it.",
        "Correct or remove the key.",
    ),
    "unknown_key": Reason(
        "Warning: a key that means nothing here, so what it says has no effect; an error under `--strict`.",
        "Correct or remove the key.",
    ),
    "null_value": Reason(
        "Warning: a key without a value, read as if it were left out.",
        "Write the value, or leave the key out.",
    ),
}

_MANIFEST = {
    "unquoted_version": Reason(
        "Warning: a version without quotes is a number, and 1.10 and 1.1 are one number.",
        "Put the version in quotes.",
    ),
    "unknown_exempt_tool": Reason(
        "Warning: `surface_guards.tool_names_exempt` names what is no tool of the catalog.",
        "Correct or remove the name.",
    ),
}

_TOOLS = {
    "tool_not_object": Reason("An entry of the catalog is no object.", "Write an object with a `function`."),
    "tool_function_not_object": Reason(
        "A tool has no `function`, or it is no object.", "Write `function: {name, description, parameters}`."
    ),
    "tool_name_not_nonempty_string": Reason("A tool has no name.", "Write its name in `function.name`."),
    "duplicate_tool": Reason("Two tools have one name.", "Rename or remove one of them."),
}

_TEMPLATES = {
    "duplicate_template": Reason("Two templates have one `template_id`.", "Rename one of them."),
    "unknown_turn_policy": Reason("A `turn_policy` that does not exist.", "Write one of the nine policies."),
    "unknown_call_order": Reason(
        "A `call_order` that does not exist.",
        "Write `strict`, `any` or `prefix`, or leave it out for `strict`.",
    ),
    "call_order_prefix_missing": Reason(
        "`call_order: prefix` says nothing about how many tools the prefix has.",
        "Add `call_order_prefix`, from 1 to the number of `required_tools`.",
    ),
    "call_order_prefix_unused": Reason(
        "`call_order_prefix` stands beside another order than `prefix`.",
        "Write `call_order: prefix`, or remove `call_order_prefix`.",
    ),
    "call_order_prefix_out_of_range": Reason(
        "`call_order_prefix` is not between 1 and the number of `required_tools`.",
        "Write how many of the `required_tools` must come first, in their order.",
    ),
    "duplicate_tool_present": Reason("`tools_present` names a tool twice.", "Remove one of the two."),
    "required_tool_not_present": Reason(
        "A tool of `required_tools` is not in `tools_present`, so no agent could call it.",
        "Add it to `tools_present`, or leave that out to show the whole catalog.",
    ),
    "unknown_milestone_type": Reason(
        "A milestone of a type that does not exist.",
        "Write `tool_call`, `ask_for_slot`, `ask_confirm`, `decline` or `final_answer`.",
    ),
    "milestone_without_tool": Reason("A `tool_call` milestone names no tool.", "Add `tool`."),
    "duplicate_milestone_id": Reason(
        "Two milestones of one template have one `id`.", "Rename one of them, or remove its `id`."
    ),
    "call_group_not_scalar": Reason(
        "A `call_group` is a mapping or a list; calls are grouped by equal values.",
        "Write a number or a name.",
    ),
    "duplicate_edge_signature": Reason("`edge_signatures` says one label twice.", "Remove one of the two."),
    "filter_ignored": Reason(
        "Warning: a `filter` beside a source that is no fixture filters nothing.",
        "Remove the filter, or write a source `fixture:<collection>.<field>`.",
    ),
    "alias_ignored": Reason(
        "Warning: `first_turn_templates` is another name of `user_turn_templates`, and both are there.",
        "Keep `user_turn_templates`.",
    ),
}

_CASES = {
    "duplicate_case": Reason("Two probes have one `id`.", "Rename one of them."),
    "unknown_result_class": Reason(
        "An expected `result_class` that does not exist.",
        "Write `success`, `structured_error` or `awaiting_confirmation`.",
    ),
    "unknown_coverage": Reason(
        "Warning: `coverage` says something else than `negative`, and so nothing.",
        "Write `coverage: negative`, or leave it out.",
    ),
    "state_unchanged_false": Reason(
        "Warning: `state_unchanged: false` checks nothing: it does not ask for a change.",
        "Remove it, or check a field of the result; that a tool changes the state is check M1's question.",
    ),
}

_HELD_OUT = {
    "unknown_held_out_collection": Reason(
        "A reservation in a collection that the fixtures don't have.", "Correct the name of the collection."
    ),
    "unknown_held_out_id": Reason("A reserved id that no row has.", "Correct or remove the id."),
    "duplicate_held_out_id": Reason(
        "One id is reserved twice; ids are compared as texts, so `1` and `'1'` are one.",
        "Remove one of the two.",
    ),
    "held_out_id_absent": Reason(
        "An id is reserved and declared absent; it can't be both in the fixtures and not.",
        "Remove it from `absent_ids` or from the reservation.",
    ),
    "held_out_key_ambiguous": Reason(
        "Nothing says which field of a collection's rows holds the reserved ids.",
        "Name it in the manifest: `primary_keys: {<collection>: <field>}`.",
    ),
    "held_out_key_missing": Reason(
        "A row of a collection with reservations lacks the primary key.", "Add the key to the row."
    ),
    "held_out_key_not_unique": Reason(
        "Two rows of a collection with reservations have one primary key, compared as texts.",
        "Give each row an id of its own, or name another field in `primary_keys`.",
    ),
    "unknown_held_out_template": Reason(
        "A reserved template that does not exist.", "Correct or remove the name."
    ),
    "duplicate_held_out_template": Reason("One template is reserved twice.", "Remove one of the two."),
}

_ENDPOINT = {
    "unsupported_protocol": Reason(
        "A protocol that this version does not speak.", "Write `protocol_version: bfcl-oracle-http-v1`."
    ),
    "invalid_base_url": Reason(
        "`base_url` is no HTTPS URL, or holds a user, a query, a fragment or what no URL holds.",
        "Write `https://`, the host and if need be a path; credentials come from `auth`.",
    ),
    "invalid_digest": Reason(
        "A digest is not `sha256:` and 64 hex digits in lower case.",
        "Copy the digest that the service publishes.",
    ),
    "two_bearer_sources": Reason(
        "`bearer_token_env` and `bearer_token_ref` both say where the token is.", "Keep one of the two."
    ),
    "reserved_header": Reason(
        "A header that the client itself sets.", "Remove it; a token comes from `bearer_token_env`."
    ),
    "not_an_env_name": Reason(
        "Where the name of an environment variable is expected stands something else, perhaps the secret itself.",
        "Put the secret into an environment variable, and write the variable's name here.",
    ),
    "unsupported_attestation": Reason(
        "A kind of attestation that this version does not know.",
        "Write `kind: bfcl-endpoint-conformance-v1`.",
    ),
}

_OPTIONS = {
    "options_unreadable": Reason("The file of run options can't be read.", "Check the path."),
    "invalid_clock": Reason(
        "The clock is no date and time with an offset.",
        'Write it like "2026-01-01T00:00:00+00:00", in quotes.',
    ),
    "unsupported_worker": Reason(
        "Code of a pack runs in processes of its own, and in no other way.",
        "Write `worker: process`, or leave it out.",
    ),
    "option_given_twice": Reason(
        "One option is said by its own key and inside a section of a generation config.",
        "Keep one of the two.",
    ),
}

CODES: dict[str, Reason] = {
    **_FILES,
    **_SHAPES,
    **_MANIFEST,
    **_TOOLS,
    **_TEMPLATES,
    **_CASES,
    **_HELD_OUT,
    **_ENDPOINT,
    **_OPTIONS,
}
"""Every code of loading: what it means and, where a problem says nothing better, the next step.

A code is a warning where its sentence starts so; under `strict` those are errors too.
"""
