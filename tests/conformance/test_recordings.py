"""The recordings of the public suite of October 2026, by call, in both profiles."""

from importlib import import_module
from pathlib import Path

import pytest

from emulator import ApiError
from tests.conformance import recordings
from tests.conformance.first_state import FirstState
from tests.conformance.recordings.recording import Part, Refused, prepared

PROFILES = ("2026-10", "classic")


def all_files():
    """Return the cases by file of the suite; two modules may have cases of one file."""
    files = {}
    for path in sorted(Path(*recordings.__path__).glob("*.py")):
        if path.stem in ("__init__", "recording"):
            continue
        for file, cases in import_module(f"tests.conformance.recordings.{path.stem}").FILES.items():
            known = files.setdefault(file, {})
            assert not known.keys() & cases.keys(), (file, known.keys() & cases.keys())
            known |= cases
    return files


FILES = all_files()


@pytest.fixture(scope="module", params=PROFILES)
def filled(request):
    emulator = prepared(request.param)
    return request.param, emulator, FirstState(emulator)


def shown(answer, wanted):
    """Return the part of an answer that was recorded; nothing recorded means nothing answered."""
    if not wanted:
        return answer
    return {name: compared(answer.get(name), value) for name, value in wanted.items()}


def compared(answered, wanted):
    """Return a value of an answer without what was not recorded of it."""
    if isinstance(wanted, Part) and isinstance(answered, dict):
        return {name: compared(answered.get(name), value) for name, value in wanted.items()}
    if isinstance(wanted, list) and isinstance(answered, list) and len(wanted) == len(answered):
        return [compared(*both) for both in zip(answered, wanted, strict=True)]
    return answered


def outcome_of(emulator, step, profile, before):
    """Return what came of a step, and what was recorded of it, as far as both can be compared."""
    wanted = step.outcome
    request = step.request(before) if callable(step.request) else step.request
    try:
        answer = emulator.call(step.operation, request)
    except ApiError as error:
        if not isinstance(wanted, Refused):
            return (error.code, error.message), wanted
        is_free = wanted.message is None or (wanted.is_layered and profile == "classic")
        found = (error.code, None if is_free else error.message)
        told = (wanted.code, None if is_free else wanted.message)
        if wanted.members is None:
            return found, told
        return (*found, error.members), (*told, wanted.members)
    before |= answer
    if isinstance(wanted, Refused):
        return answer, wanted
    return shown(answer, wanted), wanted


def departures(emulator, case, profile):
    """Yield what came of the first step that is not answered as recorded, beside the recording."""
    before = {}
    for step in case:
        found, wanted = outcome_of(emulator, step, profile, before)
        if found != wanted:
            yield step.operation, step.request, found, wanted
            return


@pytest.mark.filterwarnings("ignore:EnableKinesis")
@pytest.mark.parametrize("file", FILES)
def test_the_service_answers_so(filled, file):
    """All cases of a file, each from the same state; those that fail are named."""
    profile, emulator, state = filled
    failed = {}
    for name, case in FILES[file].items():
        state.begin(is_refused=all(isinstance(step.outcome, Refused) for step in case))
        for departure in departures(emulator, case, profile):
            failed[name] = departure
    assert failed == {}
