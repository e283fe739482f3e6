"""`pytest tests/corpus --all-releases` reads every release instead of the fixed subset."""

from __future__ import annotations

import pytest
from corpus.expected import SUBSET, releases


def pytest_addoption(parser: pytest.Parser) -> None:
    """The switch to the full corpus."""
    parser.addoption(
        "--all-releases",
        action="store_true",
        help="read every SGLang release and write docs/probe-corpus.md",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per release."""
    if "release" in metafunc.fixturenames:
        everything = metafunc.config.getoption("--all-releases", default=False)
        metafunc.parametrize("release", releases() if everything else SUBSET)
