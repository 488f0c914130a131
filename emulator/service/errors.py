"""Every error the service answers with, and our own.

    EmulatorError                     misuse of the emulator itself; never sent over the wire
    └── DocumentError                 a file of ours or of the user's that cannot be used
    ApiError                          what a client receives: code, message, members, status
    ├── ValidationException           (com.amazon.coral.validate)
    │   └── RequestFault              a fault that message profiles word differently
    ├── ProtocolError                 (com.amazon.coral.service)
    │   ├── SerializationException, UnknownOperationException, AccessDeniedException
    │   ├── RequestEntityTooLargeException, RequestTimeoutException
    │   ├── ServiceUnavailableException
    │   └── MissingAuthenticationTokenException, IncompleteSignatureException, ...
    ├── ThrottlingException           (com.amazon.coral.availability)
    └── ServiceError                  (com.amazonaws.dynamodb.v20120810)
        ├── ResourceNotFoundException, ResourceInUseException, LimitExceededException
        ├── ConditionalCheckFailedException, TransactionCanceledException, ...
        └── one class per remaining error shape of the service model

A class keeps the wire name letter for letter. Sentences live beside the rule that uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from emulator.service.wording import Wording

#: The longest message; a longer one would repeat a large request to its sender.
#: Assumed: no client needs more of a message than this.
_MESSAGE_CHARACTERS: Final = 16 * 1024


class EmulatorError(Exception):
    """The emulator was used in a way it cannot serve; the message says what to do.

    >>> raise EmulatorError("the clock cannot go back: advance() takes seconds >= 0")
    Traceback (most recent call last):
    emulator.service.errors.EmulatorError: the clock cannot go back: advance() takes seconds >= 0
    """


class UnservedMemberWarning(UserWarning):
    """A request has a member that has no effect here; the message names it and the page on it.

    >>> import warnings
    >>> from emulator import Emulator
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     _ = Emulator().call("ListTables", {"NoSuchMember": 1})
    >>> [warning.category.__name__ for warning in caught]
    ['UnservedMemberWarning']
    """


class EventSourceWarning(UserWarning):
    """An event source does what Lambda would do, and that is seldom meant; the message says why.

    >>> issubclass(EventSourceWarning, UserWarning)
    True
    """


class DocumentError(EmulatorError):
    """A design, workload or trace that cannot be used; the message says where and why.

    >>> from emulator.designs import read_tables
    >>> read_tables("no-such-file.tf")
    Traceback (most recent call last):
    emulator.service.errors.DocumentError: ...
    """


class ApiError(Exception):
    """An error answer of the service.

    Attributes:
        code: The wire name, the part of ``__type`` after the ``#``.
        message: The text, or None for the few errors that carry none.
        members: Further members of the error body, such as ``CancellationReasons``.
        status: The HTTP status.

    >>> error = ResourceNotFoundException("Requested resource not found")
    >>> error.code, error.status, error.message
    ('ResourceNotFoundException', 400, 'Requested resource not found')
    >>> error.body()["__type"]
    'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException'
    """

    code: ClassVar[str] = "InternalServerError"
    namespace: ClassVar[str] = "com.amazonaws.dynamodb.v20120810"
    message_member: str = "message"
    status: int = 400

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "code" not in cls.__dict__:
            cls.code = cls.__name__

    def __init__(
        self, message: str | None = None, members: Mapping[str, Any] | None = None
    ) -> None:
        if message is not None and len(message) > _MESSAGE_CHARACTERS:
            message = f"{message[:_MESSAGE_CHARACTERS]}..."
        super().__init__(message if message is not None else self.code)
        self.message = message
        self.members: dict[str, Any] = dict(members or {})

    def body(self) -> dict[str, Any]:
        """Return the JSON error body, ``__type`` first."""
        body: dict[str, Any] = {"__type": f"{self.namespace}#{self.code}"}
        if self.message is not None:
            body[self.message_member] = self.message
        return body | self.members


class ValidationException(ApiError):
    """The request is refused for what it says."""

    namespace = "com.amazon.coral.validate"


class RequestFault(ValidationException):
    """A ValidationException that request layers may word in several ways (PRO-4).

    ``operations/profiles.py`` alone decides which words the client reads and whether they stand
    inside ``1 validation error detected: ``. ``message`` has the current ones.

    Args:
        wording: The sentence; a text is said alike by all.
        is_final: Whether no layer puts it into an envelope.
    """

    code = "ValidationException"

    def __init__(self, wording: str | Wording, *, is_final: bool = False) -> None:
        self.wording = Wording(wording) if isinstance(wording, str) else wording
        super().__init__(self.wording.text())
        self.is_final = is_final


class ProtocolError(ApiError):
    """The request never reached an operation."""

    namespace = "com.amazon.coral.service"


class SerializationException(ProtocolError):
    """The body is not JSON, or a member has the wrong JSON type."""

    message_member = "Message"


class RequestEntityTooLargeException(ProtocolError):
    """The body is longer than the service reads (WIR-16).

    Assumed: the name, which other services of the framework use; the status is WIR-8.
    """

    status = 413


class RequestLineTooLongException(ProtocolError):
    """The request line is longer than a whole head may be; what is sent is no error (WIR-21)."""

    status = 404


class RequestTimeoutException(ProtocolError):
    """The client began a request and did not finish it in time.

    Assumed: that there is an answer at all; the name is the framework's.
    """

    status = 408


class ServiceUnavailableException(ProtocolError):
    """The server has as many connections, or as many bytes of requests, as it takes.

    Assumed: the name, which other services of the framework use; the status is WIR-8.
    """

    status = 503


class UnknownOperationException(ProtocolError):
    """The target names no operation of the service."""


class AccessDeniedException(ProtocolError):
    """The caller may not do this: another account's resource, a policy, or a web page."""


class MissingAuthenticationTokenException(ProtocolError):
    """The request carries no credentials."""


class IncompleteSignatureException(ProtocolError):
    """The Authorization header is malformed."""


class InvalidSignatureException(ProtocolError):
    """The request is signed in two ways at once, or long ago, or in the future."""


class ThrottlingException(ApiError):
    """An on-demand table, or the control plane, refuses for throughput."""

    namespace = "com.amazon.coral.availability"


class ServiceError(ApiError):
    """An error shape of the DynamoDB service model."""


class ResourceNotFoundException(ServiceError):
    """The table, index or stream does not exist or is not active yet."""


class ResourceInUseException(ServiceError):
    """The table exists already or is changing."""


class LimitExceededException(ServiceError):
    """An account or table limit of the control plane is reached."""


class ConditionalCheckFailedException(ServiceError):
    """The condition of a write did not hold."""


class TransactionCanceledException(ServiceError):
    """A transaction was cancelled; ``CancellationReasons`` has one entry per action."""

    message_member = "Message"


class TransactionConflictException(ServiceError):
    """A write met an item that a transaction holds."""


class TransactionInProgressException(ServiceError):
    """The transaction with this token is still running."""


class IdempotentParameterMismatchException(ServiceError):
    """A token was reused with other parameters."""


class DuplicateItemException(ServiceError):
    """A PartiQL INSERT met an existing item."""


class ItemCollectionSizeLimitExceededException(ServiceError):
    """An item collection of a table with local indexes outgrew its limit."""


class ProvisionedThroughputExceededException(ServiceError):
    """A provisioned table, index or partition refuses for throughput."""


class RequestLimitExceeded(ServiceError):
    """The account's on-demand quota refuses for throughput."""


class ReplicatedWriteConflictException(ServiceError):
    """A write conflicts with one in another region.

    Source: the retry data that botocore ships: its legacy mode tries again at status 409 (CAP-707).
    """

    status = 409


class InternalServerError(ServiceError):
    """The service failed; in the emulator only an injected fault raises it."""

    status = 500


class TableNotFoundException(ServiceError):
    """A backup or export operation names an unknown table."""


class TableInUseException(ServiceError):
    """The target table is changing."""


class TableAlreadyExistsException(ServiceError):
    """The target table of a restore exists."""


class BackupNotFoundException(ServiceError):
    """No backup has this ARN."""


class BackupInUseException(ServiceError):
    """The backup is being used by another operation."""


class ContinuousBackupsUnavailableException(ServiceError):
    """Continuous backups cannot be changed now."""


class PointInTimeRecoveryUnavailableException(ServiceError):
    """Point-in-time recovery is not enabled."""


class InvalidRestoreTimeException(ServiceError):
    """The restore time lies outside the recoverable window."""


class ExportNotFoundException(ServiceError):
    """No export has this ARN."""


class ExportConflictException(ServiceError):
    """An export conflicts with another."""


class InvalidExportTimeException(ServiceError):
    """The export time lies outside the recoverable window."""


class ImportNotFoundException(ServiceError):
    """No import has this ARN."""


class ImportConflictException(ServiceError):
    """An import conflicts with another."""


class GlobalTableNotFoundException(ServiceError):
    """No global table of version 2017 has this name."""


class GlobalTableAlreadyExistsException(ServiceError):
    """The global table exists."""


class ReplicaNotFoundException(ServiceError):
    """The replica does not exist."""


class ReplicaAlreadyExistsException(ServiceError):
    """The replica exists."""


class IndexNotFoundException(ServiceError):
    """The index does not exist."""


class PolicyNotFoundException(ServiceError):
    """The resource has no policy, or another revision of it."""


class ExpiredIteratorException(ServiceError):
    """The shard iterator is older than fifteen minutes."""


class TrimmedDataAccessException(ServiceError):
    """The stream records asked for have left the retention window."""
