"""Where the values of a template's slots come from, and the steps of its conversation."""
