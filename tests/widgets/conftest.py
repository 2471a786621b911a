"""What tests of panels in a browser share."""

from collections.abc import Iterator
from typing import Any

import pytest
from served_pages import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    "A browser for the tests of one file."
    with chromium() as started:
        yield started
