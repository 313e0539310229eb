"""Running gold calls against the oracle: once, twice in two worlds, and with something wrong on purpose."""
