"""The references that are read off the code leave nothing out."""

import importlib

import pytest

from tests.site import command_line, pytest_plugin, python_api


@pytest.mark.parametrize("name", python_api.MODULES)
def test_every_public_name_is_described(name):
    page = python_api.page()
    module = importlib.import_module(name)
    names = python_api.public_names(module)
    assert names
    assert [one for one in names if f'<a id="{name}.{one}"></a>' not in page] == []


def test_every_command_and_option_is_described():
    page = command_line.page()
    for name, parser in command_line.commands().items():
        assert f"## dynamometer {name}\n" in page
        options = (option for action in parser._actions for option in action.option_strings)
        hidden = {"-h", "--help", "-help", "-version"}
        assert [option for option in options if option not in hidden and option not in page] == []


def test_every_fixture_option_and_setting_of_the_plugin_is_described():
    page = pytest_plugin.page()
    recorder = pytest_plugin.declared()
    names = [name for name, _ in [*pytest_plugin.fixtures(), *recorder.options, *recorder.settings]]
    assert {"ddb", "ddb_table", "--ddb-report PATH", "ddb_rate"} <= set(names)
    assert [name for name in names if f"`{name}`" not in page] == []
