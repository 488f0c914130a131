"""One page of several files: order of modules, what they export, a policy that fits its script."""

import base64
import hashlib
import re

import pytest

from emulator.web import page, pages

FILES = {
    "page.js": '// reason\nimport { twice } from "./kit/a.js";\nimport { one } from "./kit/b.js";\n'
    "document.title = twice(one);\n",
    "kit/a.js": '/** What it does. */\nimport { one } from "./b.js";\n\n'
    "export function twice(value) {\n  return value * 2 * one;\n}\n",
    "kit/b.js": "export const one = 1;\nconst hidden = 2;\nexport class Kept {}\n",
    "page.css": "/* reason */\na {\n  color: red;\n}\n",
    "cycle.js": 'import { a } from "./cycle.js";\n',
    "default.js": "export default 1;\n",
    "everything.js": 'import * as all from "./kit/b.js";\n',
}


@pytest.fixture(autouse=True)
def files(monkeypatch):
    """A front end of a few lines."""
    monkeypatch.setattr(pages, "read", FILES.__getitem__)


def test_a_module_comes_after_those_that_it_imports_and_once():
    assert pages.bundle("page.js").splitlines() == [
        '"use strict";',
        "(() => {",
        "const module0 = (() => {",
        "const one = 1;",
        "const hidden = 2;",
        "class Kept {}",
        "return {one, Kept};",
        "})();",
        "const module1 = (() => {",
        "const { one } = module0;",
        "function twice(value) {",
        "return value * 2 * one;",
        "}",
        "return {twice};",
        "})();",
        "const module2 = (() => {",
        "const { twice } = module1;",
        "const { one } = module0;",
        "document.title = twice(one);",
        "return {};",
        "})();",
        "})();",
    ]


@pytest.mark.parametrize("module", ["cycle.js", "default.js", "everything.js"])
def test_a_form_that_one_page_cannot_hold_is_refused(module):
    with pytest.raises(ValueError, match=module):
        pages.bundle(module)


def written(**changes):
    """Return a page of the few lines."""
    values = {"title": "t", "generator": "g", "body": "<p>b</p>", "data": {}}
    return page(**values | changes, styles=("page.css",), module="page.js")


def test_the_policy_lets_this_script_run_and_no_other():
    text = written()
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none';" in text


def test_a_style_has_an_id_and_no_comments():
    assert '<style id="page-style">a { color: red; }</style>' in written()


def test_data_and_titles_end_no_element():
    hostile = "</script><script>alert(1)</script><!--"
    text = written(title=hostile, data={"key": hostile})
    assert text.count("<script>") == 1
    assert hostile not in text
    assert "&lt;/script&gt;" in text


def test_data_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        written(data=[float("nan")])
