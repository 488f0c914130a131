"""What the service is, as data: limits and errors. It imports nothing of ours."""
