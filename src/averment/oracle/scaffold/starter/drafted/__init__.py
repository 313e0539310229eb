"""What a pack starts from that is drafted from a list of tools; `draft` fills in the rest."""
