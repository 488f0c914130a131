"""SDK: boto3, botocore and aiobotocore, served in-process; the only room that knows them.

This room decides which emulator serves the code that calls, what becomes of credentials and of
sleeps meanwhile, and which methods of the SDK are wrapped for it. It imports no SDK until a mock
is entered.
"""

from emulator.sdk.boto import MockDynamoDB, mock_dynamodb
from emulator.sdk.guard import guard
from emulator.sdk.region import default_region
from emulator.sdk.scopes import listen

__all__ = ["MockDynamoDB", "default_region", "guard", "listen", "mock_dynamodb"]
