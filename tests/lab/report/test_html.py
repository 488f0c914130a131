"""The page: one file that needs nothing else, and says what it was given."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from emulator.lab.outcome.result_types import Comparison
from emulator.lab.report import charts, html_page
from emulator.lab.report.design_section import keys
from tests.lab.report.comparisons import afternoon

VOID = {"meta", "br", "link", "img", "input", "hr"}
HOSTILE = '</script><script>alert("x")</script><!-- ${title} $data'


class Page(HTMLParser):
    """Collects what a test asks of a page, and fails on unbalanced elements."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.outside, self.scripts = [], [], [], [], 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.scripts += tag == "script"
        if "id" in given:
            self.ids.append(given["id"])
        for name in ("href", "src"):
            if name in given:
                (self.links if given[name].startswith("#") else self.outside).append(given[name])

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text():
    return html_page(afternoon())


def test_elements_are_balanced_and_links_lead_somewhere(text):
    page = Page(text)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert page.outside == []


def test_ids_are_unique_but_for_the_pattern_that_each_map_brings(text):
    ids = [one for one in Page(text).ids if one != "hatch"]
    assert len(set(ids)) == len(ids)


def test_nothing_is_loaded_from_elsewhere(text):
    shown = re.sub(r'xmlns="[^"]*"|createElementNS\("[^"]*"|"http://www.w3.org/2000/svg"', "", text)
    assert re.findall(r"https?://[^\s\"'<]+", shown) == []
    assert "default-src 'none'" in text
    assert not re.search(r"@import|url\((?!#)", shown)


def data_of(text):
    """Return what the page's script reads."""
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_the_data_comes_back_from_the_page(text):
    comparison = Comparison.from_json(json.dumps(data_of(text)["results"]))
    assert [design.name for design in comparison.designs] == [
        design.name for design in afternoon().designs
    ]
    assert comparison.designs[0].throttled_share == pytest.approx(
        afternoon().designs[0].throttled_share, rel=1e-5
    )


def test_what_people_write_cannot_become_markup():
    design = replace(
        afternoon().designs[1],
        name=HOSTILE,
        verdict=HOSTILE,
        fix=HOSTILE,
        design={"name": HOSTILE, "partition": HOSTILE},
    )
    page = Page(html_page(replace(afternoon(), title=HOSTILE, designs=(design,))))
    assert page.scripts == Page(html_page(afternoon())).scripts


def test_the_page_is_of_moderate_size(text):
    assert len(text.encode()) < 400_000


def test_every_figure_has_its_picture_in_the_data(text):
    figures = re.findall(r'<figure id="([^"]+)" data-chart', text)
    assert sorted(figures) == sorted(data_of(text)["charts"])
    assert len(figures) == len(list(charts(afternoon())))


def test_healthy_sections_are_folded(text):
    designs = re.findall(r'<details id="design-\d" class="panel design (\w+)"( open)?>', text)
    assert designs == [("throttles", " open"), ("fine", ""), ("risky", " open")]
    resources = re.findall(r'<details class="resource"( open)?>', text)
    assert resources == ["", " open"]


def test_a_design_that_is_fine_has_no_fix(text):
    cards = text.split('<article class="card ')[1:]
    assert [card.split('"')[0] for card in cards] == ["throttles", "fine", "risky"]
    assert ["Smallest fix" in card.split("</article>")[0] for card in cards] == [True, False, True]


def test_each_design_says_what_it_depends_on(text):
    assert text.count("heat_threshold</code>") == 2
    assert "Placement of keys (0 to 21 of 100 calls)" in text
    assert "no unknown changes" in text.lower()


def test_a_comparison_without_findings_says_so():
    fine = replace(afternoon(), designs=(afternoon().designs[1],))
    text = html_page(fine)
    assert "The checks found nothing" in text
    assert "These constants are assumed" not in text


def test_keys_of_several_tables_and_entities_are_told():
    assert keys(
        {
            "tables": {
                "users": {
                    "entities": {"user": {"partition": "{u}"}, "order": {"partition": "{o}"}}
                },
                "log": {"partition": "{d}", "sort": "{t}", "read": 1, "write": 2000},
            }
        }
    ) == (
        "<b>users</b> <code>{u}</code>, <code>{o}</code><br>on-demand<br>"
        "<b>log</b> <code>{d}</code> / <code>{t}</code><br>provisioned: 1 RCU, 2,000 WCU"
    )


def test_embedded_data_is_rounded_json(text):
    document = data_of(text)["results"]
    assert document["designs"][0]["headroom"]["multiple"] == 0.39
    assert document["duration_seconds"] == 10800


def test_a_card_begins_with_risk_and_cost_and_then_gives_the_reasons():
    """They are on the first screen of a phone, however long the verdict is."""
    card = html_page(afternoon()).partition('<article class="card')[2]
    parts = ['class="figures"', 'class="verdict"', "Smallest fix", "Depends on", 'class="thumb"']

    assert [card.index(part) for part in parts] == sorted(card.index(part) for part in parts)


def test_no_billing_is_called_cheaper_on_what_a_throttled_run_consumed():
    throttled = next(design for design in afternoon().designs if design.break_even)

    for given_up in (0.0, 0.6):
        advises = not given_up
        patterns = [replace(one, failed=one.calls * given_up) for one in throttled.patterns]
        design = replace(throttled, patterns=tuple(patterns))
        page = html_page(replace(afternoon(), designs=(design,)))
        assert (f"so {design.break_even[0].cheaper} is cheaper" in page) is advises
        assert ("no advice" in page) is not advises


def test_every_section_can_be_gone_to(text):
    navigation = text[text.index("<nav") : text.index("</nav>")]
    sections = re.findall(r'<section[^>]* id="([^"]+)"', text)
    assert {"checks", "inputs", *sections} <= {*re.findall(r'href="#([^"]+)"', navigation)}
