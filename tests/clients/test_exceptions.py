from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from emulator.clients.exceptions import (
    ClientError,
    Exceptions,
    client_error,
    error_response,
    modelled_errors,
    waiter_error,
)
from emulator.service import errors

exceptions = Exceptions()


def raised(error, operation="PutItem"):
    return client_error(error_response(error), operation)


def test_an_error_says_what_botocores_says():
    """WIR-18, WIR-10."""
    error = raised(
        errors.ConditionalCheckFailedException(
            "The conditional request failed", {"Item": {"b": {"B": "YQ=="}}}
        )
    )
    assert str(error) == (
        "An error occurred (ConditionalCheckFailedException) when calling the PutItem "
        "operation: The conditional request failed"
    )
    assert error.operation_name == "PutItem"
    metadata = error.response.pop("ResponseMetadata")
    assert error.response == {
        "Error": {
            "Message": "The conditional request failed",
            "Code": "ConditionalCheckFailedException",
        },
        "message": "The conditional request failed",
        "Item": {"b": {"B": b"a"}},
    }
    assert metadata["HTTPStatusCode"] == 400


def test_a_text_under_another_name_than_the_models_is_not_found_by_a_parser():
    """WIR-10: the older layer's failed condition, beside an item."""
    older = errors.ConditionalCheckFailedException("no", {"Item": {}})
    older.message_member = "Message"
    response = raised(older).response
    assert response["Error"]["Message"] == "no"
    assert response.keys() == {"Error", "ResponseMetadata", "Item"}


def test_cancellation_reasons_stand_beside_the_error():
    reasons = [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Message": "no"}]
    error = raised(
        errors.TransactionCanceledException("cancelled", {"CancellationReasons": reasons})
    )
    assert error.response["CancellationReasons"] == reasons
    assert error.response["Message"] == "cancelled"
    assert isinstance(error, exceptions.TransactionCanceledException)


def test_an_error_outside_the_service_model_is_a_plain_client_error():
    error = raised(errors.ValidationException("wrong"))
    assert error.response["Error"] == {"Message": "wrong", "Code": "ValidationException"}
    assert "message" not in error.response
    assert exceptions.from_code("ValidationException") is ClientError
    assert exceptions.ClientError is ClientError
    with pytest.raises(AttributeError, match="the service model has no error 'Validation"):
        _ = exceptions.ValidationException


def test_an_error_without_text_has_an_empty_message():
    for error in (errors.UnknownOperationException(), errors.InternalServerError()):
        response = raised(error).response
        assert response["Error"] == {"Message": "", "Code": error.code}
        assert "message" not in response


def test_the_modelled_errors_are_those_of_the_service_model():
    session = pytest.importorskip("botocore.session").get_session()
    shapes = {
        shape.name
        for service in ("dynamodb", "dynamodbstreams")
        for shape in session.get_service_model(service).error_shapes
    }
    assert modelled_errors() == shapes
    assert shapes < set(dir(exceptions))


def test_errors_are_botocores_too_once_botocore_is_imported():
    botocore_exceptions = pytest.importorskip("botocore.exceptions")
    error = raised(errors.ResourceNotFoundException("gone"))
    assert isinstance(error, botocore_exceptions.ClientError)
    assert isinstance(error, exceptions.ResourceNotFoundException)
    assert type(error) is type(raised(errors.ResourceNotFoundException("gone")))
    waited = waiter_error("TableExists", "Max attempts exceeded", {})
    assert isinstance(waited, botocore_exceptions.WaiterError)
    assert str(waited) == "Waiter TableExists failed: Max attempts exceeded"


def test_errors_are_ours_alone_while_botocore_is_not_imported(monkeypatch):
    monkeypatch.delitem(sys.modules, "botocore.exceptions", raising=False)
    error = raised(errors.ResourceNotFoundException("gone"))
    assert type(error) is exceptions.ResourceNotFoundException


def test_botocore_is_not_imported_for_it():
    program = (
        "import sys\n"
        "from emulator import errors\n"
        "from emulator.clients.exceptions import client_error, error_response, waiter_error\n"
        "error = client_error(error_response(errors.ResourceNotFoundException('x')), 'Scan')\n"
        "waited = waiter_error('W', 'r', {})\n"
        "print(error.__class__.__mro__[1].__name__, waited.__class__.__mro__[1].__name__,\n"
        "      any(name.startswith(('boto', 'unittest')) for name in sys.modules))\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["ClientError", "Exception", "False"]


def test_errors_survive_pickling():
    error = raised(errors.ResourceInUseException("busy"))
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.response, copy.operation_name, str(copy)) == (
        type(error),
        error.response,
        error.operation_name,
        str(error),
    )
