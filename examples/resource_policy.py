"""Two callers at one table, and a policy between them.

Scenario: a shop lets its warehouse read orders and set their status, and lets nobody delete any.
With Settings(enforce_policies=True) an access key says who asks, and the policies of tables and
streams refuse what they do not allow, in the service's words. A table without a policy is open, and
who names no access key is the account itself.
"""

import json

from emulator import ApiError, Emulator, ManualClock, Settings

TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/orders"
WAREHOUSE = "arn:aws:iam::000000000000:user/warehouse"
POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"AWS": WAREHOUSE},
            "Action": ["dynamodb:GetItem", "dynamodb:UpdateItem"],
            "Resource": TABLE,
        },
        {
            "Effect": "Deny",
            "Principal": "*",
            "Action": "dynamodb:DeleteItem",
            "Resource": TABLE,
        },
    ],
}
KEY = {"id": {"S": "o-1"}}
REQUESTS = {
    "GetItem": {"Key": KEY},
    "UpdateItem": {
        "Key": KEY,
        "UpdateExpression": "SET shipped = :t",
        "ExpressionAttributeValues": {":t": {"BOOL": True}},
    },
    "DeleteItem": {"Key": KEY},
    "Scan": {},
}


def main() -> None:
    emu = Emulator(clock=ManualClock(), settings=Settings(enforce_policies=True))
    client = emu.client()
    client.create_table(
        TableName="orders",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client.put_item(TableName="orders", Item=KEY)
    client.put_resource_policy(ResourceArn=TABLE, Policy=json.dumps(POLICY))
    for caller in ("warehouse", "intern", None):
        print(caller or "the account")
        for operation, request in REQUESTS.items():
            try:
                emu.call(operation, {"TableName": "orders", **request}, access_key=caller)
                print(f"  {operation:<11} served")
            except ApiError as error:
                _, _, reason = str(error.message).partition(f"{TABLE} ")
                print(f"  {operation:<11} {reason}")


if __name__ == "__main__":
    main()
