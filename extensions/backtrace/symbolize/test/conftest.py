from pathlib import Path

import pytest
from stacks import build


@pytest.fixture(scope="session")
def nested(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("nested"), "nested.c")
