"""Each case begins with the same state, which an emulator need not always be brought back to."""

from emulator import Emulator


class FirstState:
    """The state of an emulator before any case.

    To restore it takes longer than most cases. After a case of which every request was refused it
    is still there: ``test_a_refused_request_changes_nothing`` proves it for each of them (ORD-3).
    """

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._snapshot = emulator.snapshot()
        self._is_there = True

    def begin(self, *, is_refused: bool) -> None:
        """Begin a case, in which every request is to be refused, or not."""
        if not self._is_there:
            self._emulator.restore(self._snapshot)
        self._is_there = is_refused
