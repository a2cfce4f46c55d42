"""The code in the pages for users: fenced blocks, spans in sentences, and pages.toml, which says how they are run."""

import re
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from penumbra_lab.state import TREE

PAGES = ["README.md", *sorted(str(path.relative_to(TREE)) for path in TREE.glob("docs/*.md"))]
TABLE = tomllib.loads((Path(__file__).parent / "pages.toml").read_text())
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`((?:[^`\n]|\n(?! *\n))+)`")


@dataclass(frozen=True)
class Code:
    """A block, or a span of one line, which has no language."""

    page: str
    line: int
    text: str
    language: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Step:
    """What a block asks for, and what the page shows after it; nothing, where it shows nothing."""

    code: str
    output: list[str] = field(default_factory=list)


def page_code(page: str) -> list[Code]:
    """In the order of the page."""
    text = (TREE / page).read_text()

    def line(match: re.Match) -> int:
        return text.count("\n", 0, match.start()) + 1

    blocks = [Code(page, line(match), textwrap.dedent(match[2]), match[1]) for match in FENCED.finditer(text)]
    assert 2 * len(blocks) == len(re.findall(r"^ *```", text, re.MULTILINE)), f"{page}: a block without an end"
    # Characters keep their places.
    prose = FENCED.sub(lambda match: re.sub("[^\n]", " ", match[0]), text)
    spans = [Code(page, line(match), " ".join(match[1].replace("\\|", "|").split())) for match in SPAN.finditer(prose)]
    return sorted([*blocks, *spans], key=lambda code: code.line)


def settings(block: Code) -> dict[str, str]:
    """Of lines as in postgresql.conf."""
    found = {}
    for line in block.text.splitlines():
        assignment = re.match(r"([\w.]+) = (?:'([^']*)'|([^\s'#]+))\s*(?:#.*)?$", line)
        assert assignment or not line.strip(), f"{block}: no setting: {line}"
        if assignment:
            found[assignment[1]] = assignment[2] or assignment[3]
    return found


PROMPTS = {"psql": (re.compile(r"\w*=# "), re.compile(r"\w*-# ")), "console": (re.compile(r"\$ "), re.compile("> "))}


def steps(block: Code, text: str) -> list[Step]:
    """A transcript's commands with what they print; each command of a shell's block, the whole of another one."""
    if block.language == "sh":
        lines = text.replace("\\\n", "").splitlines()
        return [Step(line + "\n") for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if block.language not in PROMPTS:
        return [Step(text)]
    first, further = PROMPTS[block.language]
    found: list[Step] = []
    for line in text.splitlines():
        if prompt := first.match(line):
            found.append(Step(line[prompt.end():] + "\n"))
        elif found and (prompt := further.match(line)) and not found[-1].output:
            found[-1] = Step(found[-1].code + line[prompt.end():] + "\n")
        else:
            assert found, f"{block} shows what nothing asked for"
            found[-1].output.append(line)
    return found
