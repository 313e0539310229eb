"""`python -m averment`."""

from averment.cli.main import script

script()
