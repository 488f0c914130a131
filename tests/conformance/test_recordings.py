"""The recordings of the public suite of October 2026, by call, in both profiles."""

from importlib import import_module
from pathlib import Path

import pytest

from emulator import ApiError
from tests.conformance import recordings
from tests.conformance.recordings.recording import Refused, prepared

PROFILES = ("2026-10", "classic")
FILES = {
    file: cases
    for path in sorted(Path(*recordings.__path__).glob("*.py"))
    if path.stem not in ("__init__", "recording")
    for file, cases in import_module(f"tests.conformance.recordings.{path.stem}").FILES.items()
}
CASES = [(file, case) for file, cases in FILES.items() for case in cases]


@pytest.fixture(scope="module", params=PROFILES)
def filled(request):
    emulator = prepared(request.param)
    return request.param, emulator, emulator.snapshot()


def shown(answer, wanted):
    """Return the part of an answer that was recorded; nothing recorded means nothing answered."""
    return {name: answer.get(name) for name in wanted} if wanted else answer


def outcome_of(emulator, step, profile):
    """Return what came of a step, and what was recorded of it, as far as both can be compared."""
    wanted = step.outcome
    try:
        answer = emulator.call(step.operation, step.request)
    except ApiError as error:
        if not isinstance(wanted, Refused):
            return (error.code, error.message), wanted
        is_free = wanted.message is None or (wanted.is_layered and profile == "classic")
        found = (error.code, None if is_free else error.message)
        told = (wanted.code, None if is_free else wanted.message)
        if wanted.members is None:
            return found, told
        return (*found, error.members), (*told, wanted.members)
    if isinstance(wanted, Refused):
        return answer, wanted
    return shown(answer, wanted), wanted


@pytest.mark.parametrize(("file", "case"), CASES)
def test_the_service_answers_so(filled, file, case):
    profile, emulator, snapshot = filled
    emulator.restore(snapshot)
    for step in FILES[file][case]:
        found, wanted = outcome_of(emulator, step, profile)
        assert found == wanted, step.request
