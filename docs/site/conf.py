"""The pages of the repository as a site (`make docs`): its source is the whole tree, since pages link across it."""

import re
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]

project = "Penumbra"
release = (TREE / "VERSION").read_text().strip()
html_title = f"Penumbra {release}"

extensions = ["myst_parser"]
root_doc = "docs/site/index"
include_patterns = ["**.md"]
exclude_patterns = [".*", "build*", "dist"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # of SQL that quotes with $$

html_theme = "furo"
html_copy_source = False
html_show_sphinx = False


def _without_folders(page: Path, text: str) -> str:
    """A link to a folder becomes its text: the site has pages only."""
    return re.sub(r"\[([^\]]+)\]\(([^)\s#]+)\)",
                  lambda link: link[1] if (page.parent / link[2]).is_dir() else link[0], text)  # fmt: skip


def _prepare(app, name: str, source: list[str]) -> None:
    page = TREE / f"{name}.md"
    if name == root_doc:
        front = (TREE / "README.md").read_text()
        source[0] = re.sub(r"\]\((?!https?:|#)", "](../../", front) + "\n" + source[0]
    elif name == "README":
        source[0] = "---\norphan: true\n---\n" + source[0]  # it is the first page already
    source[0] = _without_folders(page, source[0])


def setup(app) -> None:
    app.connect("source-read", _prepare)
