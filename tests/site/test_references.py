"""The references that are read off the code leave nothing out."""

import importlib
import inspect

import pytest

from emulator import Emulator
from emulator.errors import ApiError
from tests.site import command_line, pytest_plugin, python_api


@pytest.mark.parametrize("name", python_api.MODULES)
def test_every_public_name_is_described(name):
    page = python_api.page()
    module = importlib.import_module(name)
    names = python_api.public_names(module)
    assert names
    assert [one for one in names if f'<a id="{name}.{one}"></a>' not in page] == []


def needs_an_example(value):
    """Return whether a public name is a class or function; errors of the service share one."""
    is_wire_error = inspect.isclass(value) and issubclass(value, ApiError) and value is not ApiError
    return (inspect.isclass(value) or inspect.isfunction(value)) and not is_wire_error


@pytest.mark.parametrize("name", python_api.MODULES)
def test_every_public_name_has_an_example(name):
    module = importlib.import_module(name)
    public = {name: getattr(module, name) for name in python_api.public_names(module)}
    lacking = [
        name
        for name, value in public.items()
        if needs_an_example(value) and ">>>" not in (value.__doc__ or "")
    ]
    assert lacking == []


def test_every_method_of_the_emulator_has_an_example():
    methods = {name: value for name, value in vars(Emulator).items() if not name.startswith("_")}
    assert [name for name, value in methods.items() if ">>>" not in (value.__doc__ or "")] == []


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
