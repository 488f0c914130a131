"""The former hypothesis entry point, for installs whose metadata still names it.

``emulator.strategies`` registers our types when it is loaded; nothing is left to do here.
"""


def register() -> None:
    """Do nothing: the types are registered when ``emulator.strategies`` is loaded."""
