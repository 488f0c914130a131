"""The pytest plugin; the only room that knows pytest."""
