"""Doors to the engine: boto3, HTTP, pytest, hypothesis. Each is imported by who opens it."""
