"""What tests consumed as JUnit XML, for the pages of CI systems."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from emulator.sessions.session_report import Record, properties


def as_junit(records: Sequence[Record]) -> str:
    """Return a suite with a case for each test: its figures, and why it failed.

    >>> print(as_junit([]).splitlines()[1])
    <testsuites name="dynamometer">
    """
    root = ElementTree.Element("testsuites", name="dynamometer")
    failed = sum(bool(record.get("failures")) for record in records)
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name="dynamometer",
        tests=str(len(records)),
        failures=str(failed),
        errors="0",
        skipped="0",
    )
    for record in records:
        place = " ".join(record.get("namespaces", ()))
        case = ElementTree.SubElement(
            suite, "testcase", classname=place, name=record["test"], time="0"
        )
        figures = ElementTree.SubElement(case, "properties")
        for name, value in properties(record):
            ElementTree.SubElement(figures, "property", name=name, value=str(value))
        for sentence in record.get("failures", ()):
            message = sentence.partition("\n")[0]
            ElementTree.SubElement(case, "failure", message=message).text = sentence
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
