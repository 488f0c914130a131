"""The capacity model against published measurements of the service, in virtual time."""
