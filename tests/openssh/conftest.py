"""What tests with accounts of their own share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.accounts import Account, account_made


@pytest.fixture
def engineer() -> Iterator[Account]:
    """Who logs in."""
    with account_made() as made:
        yield made


@pytest.fixture
def owner() -> Iterator[Account]:
    """Whose server it is."""
    with account_made() as made:
        yield made
