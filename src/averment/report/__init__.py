"""Reports: an envelope, for people to read."""
