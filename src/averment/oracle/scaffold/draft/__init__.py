"""A pack drafted from a list of tools, and the list of what it lacks."""
