"""What the command line shows as one plain line instead of a traceback."""


class LabError(Exception):
    """Something the user can act on: what failed, and what to do."""
