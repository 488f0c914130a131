"""Databases on disk: saved snapshots, and items as DynamoDB JSON lines."""
