"""Testing: what the pytest plugin does; beside its entry point, the only room that knows pytest.

This room decides what a project may configure, how a database is seeded and restored, how a table
is written in few words, and what a session reports. ``pytest_dynamometer``, the entry point, lies
outside of the package and loads it when a test asks for one of its fixtures.
"""
