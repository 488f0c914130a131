"""Rules: functions that refuse what the service refuses, each with its sentence beside it."""
