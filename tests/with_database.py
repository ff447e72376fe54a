"""Plugin of pytest that leaves only the tests that use a database: no other one can tell two databases apart."""

import pytest

_FIXTURES = {"db", "transactional_db"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    others = [item for item in items if not _uses_database(item)]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if _uses_database(item)]


def _uses_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or bool(fixtures & _FIXTURES)
