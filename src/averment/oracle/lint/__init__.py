"""What is no failure of a pack and still odd: what is unused, contradicts itself, or will fail when tasks are made.

Every warning has a code of `CODES`, a place and a mend. Rules ask what the files say and run none of the pack's code;
each takes time linear in the pack.
"""

from averment.oracle.lint.codes import CODES
from averment.oracle.lint.rules import lint

__all__ = ["CODES", "lint"]
