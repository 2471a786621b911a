"""Code of version 0.1 keeps running: every old name and every old module is found, with a warning that says the new one."""

import importlib

import pytest

import hyperlab as hl
from hyperlab.core.old_names import OLD_MODULES, OLD_NAMES, find_old_name


@pytest.mark.parametrize("name", OLD_NAMES)
def test_an_old_name_is_todays_object_with_a_warning(name: str) -> None:
    found = hl
    for part in OLD_NAMES[name].split("."):
        found = getattr(found, part)
    with pytest.warns(FutureWarning, match=rf"hl\.{name} is now hl\.{OLD_NAMES[name]}; the old name goes with"):
        assert getattr(hl, name) is found
    assert name not in dir(hl), "an old name is not offered any more"


@pytest.mark.parametrize("module", OLD_MODULES)
def test_an_old_module_can_be_imported(module: str) -> None:
    assert importlib.import_module(f"hyperlab.{module}").__name__ == f"hyperlab.{module}"


def test_names_of_old_modules_are_found_in_their_packages() -> None:
    with pytest.warns(FutureWarning, match="hyperlab.relations.cka is now hyperlab.analysis.cka"):
        from hyperlab.relations import cka
    assert cka is hl.analysis.cka
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from hyperlab.relations import nothing  # noqa: F401


def test_a_name_that_never_was_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'hyperlab' has no attribute 'nothing'"):
        find_old_name("nothing")
    with pytest.raises(ModuleNotFoundError, match="hyperlab.nothing"):
        importlib.import_module("hyperlab.nothing")
