"""boto3, botocore and aiobotocore served in-process; the only room that knows them."""
