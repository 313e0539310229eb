"""Everything that can be wrong with a tool as declared, and with arguments: the contract's codes, and what they mean."""

from __future__ import annotations

from typing import Final

from averment.oracle.findings import Reason

__all__ = ["ARGUMENT_REASONS", "DEFINITION_REASONS"]

DEFINITION_REASONS: Final[dict[str, Reason]] = {
    "tool_not_object": Reason(
        "an entry of the catalog is not an object",
        'Write `{"type": "function", "function": {...}}`.',
    ),
    "tool_type_not_function": Reason(
        "the entry's `type` is something else than `function`", 'Write `"type": "function"`.'
    ),
    "tool_function_not_object": Reason(
        "the entry has no object `function`", "Put `name`, `description` and `parameters` into `function`."
    ),
    "tool_name_not_nonempty_string": Reason(
        "the tool has no name", "Give `function.name` the name under which the tool is called."
    ),
    "tool_description_not_string": Reason(
        "the tool's description is no string", "Write `description` as one string, or leave it out."
    ),
    "tool_strict_not_boolean": Reason(
        "`strict` is neither true nor false", "Write `true` or `false`, or leave it out."
    ),
    "parameters_not_object": Reason(
        "the tool has no object `parameters`",
        'A tool without arguments has `"parameters": {"type": "object", "properties": {}}`.',
    ),
    "parameters_type_not_object": Reason(
        "the arguments of a tool are always an object, and its `parameters` declare something else",
        'Write `"type": "object"`.',
    ),
    "unsupported_schema_keyword": Reason(
        "the keyword is not in the subset of JSON Schema that packs may use",
        "Leave it out, say it in `description`, and let the oracle refuse such arguments.",
    ),
    "invalid_schema_type": Reason(
        "`type` is neither a type's name nor a non-empty list of them",
        "Write one of string, integer, number, boolean, array, object, null, or a list of them.",
    ),
    "duplicate_schema_type": Reason(
        "a type stands twice in the list of types", "Leave out the second, or write the type that was meant."
    ),
    "schema_enum_not_array": Reason("`enum` is no list", "Write the allowed values as a list."),
    "schema_enum_empty": Reason(
        "`enum` allows no value at all", "List the allowed values, or leave `enum` out."
    ),
    "duplicate_schema_enum_value": Reason("a value stands twice in `enum`", "Leave out the second."),
    "schema_value_violates_type": Reason(
        "a value of `enum` or `const` is not of the declared type, so no argument can ever equal it",
        "Write a value of that type, or declare the type too.",
    ),
    "invalid_schema_default": Reason(
        "the default does not fit the schema that declares it", "Write a default that is itself allowed."
    ),
    "schema_additional_properties_not_boolean": Reason(
        "`additionalProperties` is neither true nor false", "Write `false` for a closed object, else `true`."
    ),
    "invalid_schema_bound": Reason(
        "a bound is not a number, or a length is not a whole number from 0", "Write such a number."
    ),
    "schema_pattern_not_string": Reason("`pattern` is no string", "Write a regular expression as a string."),
    "invalid_schema_pattern": Reason(
        "`pattern` is no regular expression of Python, or one that can take forever", "Write it otherwise."
    ),
    "inconsistent_schema_bounds": Reason(
        "the lower bound lies above the upper one, so nothing is allowed", "Correct one of the two."
    ),
    "schema_ref_not_local": Reason(
        "`$ref` leads out of the tool's parameters",
        "Write `#/$defs/NAME`, and the schema into `$defs` of the tool's own `parameters`.",
    ),
    "cyclic_schema_ref": Reason(
        "a schema holds itself by way of `$ref`", "Write the levels out that the tool takes."
    ),
    "unresolvable_schema_ref": Reason(
        "`$ref` leads to nothing, or to something that is no schema",
        "Correct the reference; it is resolved against the tool's own `parameters`.",
    ),
    "schema_all_of_not_nonempty_array": Reason(
        "`allOf` is no list, or an empty one", "List the schemas that apply together, or leave it out."
    ),
    "all_of_schema_not_object": Reason("a member of `allOf` is no schema", "Write an object."),
    "schema_definitions_not_object": Reason(
        "`$defs` or `definitions` is no object", "Write an object of schemas by their names."
    ),
    "definition_schema_not_object": Reason("a definition is no schema", "Write an object."),
    "schema_properties_not_object": Reason(
        "`properties` is no object", "Write an object of schemas by the names of the properties."
    ),
    "schema_required_not_string_array": Reason(
        "`required` is no list of names", "List the names of the required properties."
    ),
    "duplicate_required_property": Reason("a name stands twice in `required`", "Leave out the second."),
    "required_property_not_declared": Reason(
        "a required property is not in `properties` of the same schema",
        "Declare it there (`{}` will do where another schema says more), or leave it out of `required`.",
    ),
    "property_schema_not_object": Reason(
        "a property is no schema", "Write an object; `{}` allows any value."
    ),
    "items_schema_not_object": Reason("`items` is no schema", "Write one schema for all items."),
}
"""The reasons of `definition_failures`."""

ARGUMENT_REASONS: Final[dict[str, Reason]] = {
    "arguments_not_object": Reason("the arguments are no object", "Write an object of arguments by name."),
    "argument_type_mismatch": Reason(
        "the value is not of the declared type; `1.0` is no integer and `true` is no number",
        "Write a value of that type.",
    ),
    "argument_not_in_enum": Reason("the value is none of those in `enum`", "Write one of them, exactly."),
    "argument_not_equal_const": Reason("the value is not the one in `const`", "Write that value, exactly."),
    "string_too_short": Reason("the string is shorter than `minLength`", "Write a longer one."),
    "string_too_long": Reason("the string is longer than `maxLength`", "Write a shorter one."),
    "string_pattern_mismatch": Reason(
        "`pattern` is found nowhere in the string; it need not match all of it", "Write one that matches."
    ),
    "number_below_minimum": Reason("the number is below `minimum`", "Write a larger one."),
    "number_above_maximum": Reason("the number is above `maximum`", "Write a smaller one."),
    "array_too_short": Reason("the list has fewer items than `minItems`", "Add items."),
    "array_too_long": Reason("the list has more items than `maxItems`", "Leave items out."),
    "missing_required_argument": Reason("a required argument is missing", "Add it."),
    "unknown_argument": Reason(
        "the schema declares no such argument, and no others are allowed",
        "Leave it out, or declare it in `properties`.",
    ),
    "unresolvable_schema_ref": Reason(
        "the schema can't be followed to its end, so nothing is known of the value",
        "See what `definition_failures` says of the tool.",
    ),
    "invalid_schema_type": Reason(
        "the schema declares a type that there is not, so nothing is known of the value",
        "See what `definition_failures` says of the tool.",
    ),
}
"""The reasons of `argument_failures`."""
