"""The test suite on every CPython that is supported and found: ``nox``, or ``nox -s tests-3.12``.

An interpreter that is not on the machine is skipped and named; with the option
``--error-on-missing-interpreters`` it is an error.
"""

import nox

nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Run the suite as the README does, with the package and its extras installed."""
    session.install("-q", "-e", ".[test]")
    session.run("pytest", "-q", *(session.posargs or ["-n", "2"]))
