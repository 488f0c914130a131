"""The service as data: limits and errors. It imports nothing of ours."""
