"""Arguments that satisfy a schema, always the same ones."""
