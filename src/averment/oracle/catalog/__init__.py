"""The subset of JSON Schema that tools are declared in, and arguments checked against it."""
