"""Results as JUnit XML: a suite for each design, a case for each promise (ICH-85)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from emulator.lab.outcome.expectations import Judgement
from emulator.lab.outcome.result_types import Comparison, DesignResult


class JudgedPromise(NamedTuple):
    """The result of a lab file, and what became of its promises."""

    comparison: Comparison
    judgements: Sequence[Judgement]


def junit_report(results: Sequence[JudgedPromise]) -> str:
    """Return the results of lab files as JUnit XML; a design without promises has one case."""
    root = ElementTree.Element("testsuites", name="dynamometer lab")
    for comparison, judgements in results:
        for design in comparison.designs:
            own = [judgement for judgement in judgements if judgement.design == design.name]
            _add_suite(root, comparison.title, design, own)
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_suite(
    root: ElementTree.Element, title: str, design: DesignResult, own: Sequence[Judgement]
) -> None:
    failed = sum(1 for judgement in own if judgement.complaint is not None)
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=f"{title}: {design.name}",
        tests=str(len(own) or 1),
        failures=str(failed),
        errors="0",
        skipped="0",
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _figures(design).items():
        ElementTree.SubElement(properties, "property", name=name, value=value)
    cases = own or [Judgement(design.name, "run", None)]
    for judgement in cases:
        case = ElementTree.SubElement(
            suite, "testcase", classname=design.name, name=judgement.promise, time="0"
        )
        if judgement.complaint is not None:
            failure = ElementTree.SubElement(
                case, "failure", type=judgement.promise, message=judgement.complaint
            )
            failure.text = (
                design.verdict if design.fix is None else f"{design.verdict} {design.fix}"
            )


def _figures(design: DesignResult) -> dict[str, str]:
    """Return the figures that a build keeps."""
    figures = {
        "grade": design.grade,
        "throttled_share": f"{design.throttled_share:.6g}",
        "monthly_cost": f"{design.cost.total:.2f}",
    }
    if design.risk is not None:
        figures["risk"] = f"{design.risk.chance:.6g}"
    if design.headroom is not None:
        figures["headroom"] = f"{design.headroom.multiple:.6g}"
    return figures
