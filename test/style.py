"""Style that a machine can see: code (ruff, clang-format, marks, lines), pages (length, figures, links), attributes."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from named_checks import run_checks

TREE = Path(__file__).resolve().parents[1]
COLUMNS = 120
README_LINES = 400
# "sha256  path" of each install and update script of a release, and of own_schema.sql, as sha256sum prints them.
RELEASED = TREE / "extensions/released.sha256"
# A figure of today beside one of yesterday: both belong to the measurements, the older one to git.
HISTORY = re.compile(r"\bbefore\b[^.;|]*\bnow\b|\bnow\b[^.;|]*\bbefore\b|\d[^.;|]*\bbefore\b,? (and )?\d|\(before: |\| before \|")
UNFINISHED = re.compile(r"\b(" + "TO" + "DO|FIX" + "ME|X" + r"XX)\b")


def tracked(*patterns: str) -> list[Path]:
    git = ["git", "-c", f"safe.directory={TREE}", "-C", str(TREE), "ls-files", "--cached", "--others",
           "--exclude-standard", *patterns]  # fmt: skip
    names = subprocess.run(git, capture_output=True, text=True).stdout.split("\n")
    return [TREE / name for name in names if name and (TREE / name).is_file()]


def python_failures() -> list[str]:
    done = subprocess.run([TREE / ".venv/bin/ruff", "check", "--output-format", "concise", "extensions", "lab", "test"],
                          cwd=TREE, capture_output=True, text=True)  # fmt: skip
    return [] if done.returncode == 0 else (done.stdout + done.stderr).splitlines()


def cxx_failures() -> list[str]:
    done = subprocess.run([TREE / ".venv/bin/clang-format", "--dry-run", "--Werror",
                           *tracked("*.cc", "engine/*.h", "kernels/*.h")], capture_output=True, text=True)  # fmt: skip
    return [line for line in done.stderr.splitlines() if "[-Wclang-format-violations]" in line]


def unfinished_marks() -> list[str]:
    return [f"{path.relative_to(TREE)}:{number}: {line.strip()}"
            for path in tracked("*.c", "*.h", "*.cc", "*.py", "*.sh")
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
            if UNFINISHED.search(line)]  # fmt: skip


def wide_page_lines() -> list[tuple[Path, int, str]]:
    """Tables, code and what a program wrote are as wide as they are."""
    wide = []
    for path in tracked("*.md"):
        is_code = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            is_code ^= line.lstrip().startswith("```")
            if len(line) > COLUMNS and not is_code and not line.lstrip().startswith("|") and " " in line.strip():
                wide.append((path, number, line))
    return wide


def wide_code_lines() -> list[tuple[Path, int, str]]:
    """A message stands on one line, so that it is found by its text."""
    return [(path, number, line.expandtabs(4))
            for path in tracked("*.c", "*.h", "*.cc")
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if len(line.expandtabs(4)) > COLUMNS and '"' not in line]  # fmt: skip


def wide_lines() -> list[str]:
    return [f"{path.relative_to(TREE)}:{number} has {len(line)} columns"
            for path, number, line in wide_page_lines() + wide_code_lines()]  # fmt: skip


def long_readmes() -> list[str]:
    lengths = {name: len((TREE / name).read_text().splitlines())
               for name in (str(path.relative_to(TREE)) for path in tracked("*README.md"))}  # fmt: skip
    return [f"{name} has {length} lines" for name, length in lengths.items()
            if length > README_LINES]  # fmt: skip


def _sentences(text: str) -> list[str]:
    """Of paragraphs and table rows; code is left out."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    blocks = re.split(r"\n\s*\n|\n(?=\s*[|*#-])", text)
    return [sentence for block in blocks for sentence in re.split(r"(?<=[.:])\s+", " ".join(block.split()))]


def histories() -> list[str]:
    return [f"{path.relative_to(TREE)}: {sentence}"
            for path in tracked("*README.md", "docs/*.md")
            if path.name != "measurements.md"
            for sentence in _sentences(path.read_text())
            if re.search(r"\d", sentence) and HISTORY.search(sentence)]  # fmt: skip


def dead_links() -> list[str]:
    """Links from page to page lead to a file, and what stands behind # is a heading there."""
    pages = {path: re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
             for path in tracked("*.md")}  # fmt: skip
    headings = {path: {re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
                       for line in text.splitlines() if line.startswith("#")}
                for path, text in pages.items()}  # fmt: skip
    dead = []
    for path, text in pages.items():
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
            name, _, heading = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            if not target.exists() or heading and heading not in headings.get(target, {heading}):
                dead.append(f"{path.relative_to(TREE)}: {link}")
    return dead


def unlisted_sources() -> list[str]:
    """In folders of layers a file has its line in the file table of the folder's README."""
    unlisted = []
    for page in tracked("engine/src/*README.md", "extensions/columnar/src/*README.md"):
        named = set(re.findall(r"`(\w+)(?:\.(?:\[ch\]|\*|cc|[ch]))?`", page.read_text()))
        unlisted += [f"{path.relative_to(TREE)}" for path in sorted(page.parent.glob("*.[ch]*"))
                     if path.stem not in named]  # fmt: skip
    return unlisted


def unmarked_files() -> list[str]:
    """What a program wrote, and git does not know it."""
    written = [path for path in tracked() if path.is_file() and (
        {"golden", "expected"} & set(path.relative_to(TREE).parts[:-1])
        or path.parent == TREE / "results" and path.suffix == ".json")]  # fmt: skip
    git = ["git", "-c", f"safe.directory={TREE}", "-C", str(TREE), "check-attr", "linguist-generated", "--stdin"]
    names = "\n".join(str(path.relative_to(TREE)) for path in written)
    done = subprocess.run(git, input=names, capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if not line.endswith(": set")]


def stray_results() -> list[str]:
    """Results that no claim refers to, that no commit can make again, or that can be drawn."""
    claims = (TREE / "docs/measurements.md").read_text()
    stray = [f"{path.relative_to(TREE)} is no claim's" for path in tracked("results/*.json", "results/*.png")
             if path.name not in claims]  # fmt: skip
    for path in tracked("results/*.json"):
        version = json.loads(path.read_text())["penumbra_version"]
        if "dirty" in version or "unknown" in version:
            stray.append(f"{path.relative_to(TREE)} is of no clean commit: {version}")
    return stray


def changed_releases() -> list[str]:
    """Scripts of a release never change: databases have them. From the first tag on every released one is listed."""
    listed = {name: sha for sha, name in (line.split() for line in RELEASED.read_text().splitlines())}
    released = [f"{name}: not as it was released" for name, sha in listed.items() if not (TREE / name).is_file()
                or hashlib.sha256((TREE / name).read_bytes()).hexdigest() != sha]  # fmt: skip
    git = ["git", "-c", f"safe.directory={TREE}", "-C", str(TREE)]
    for tag in subprocess.run([*git, "tag", "--list", "v*"], capture_output=True, text=True).stdout.split():
        files = subprocess.run([*git, "ls-tree", "-r", "--name-only", tag, "extensions"], capture_output=True, text=True)
        released += [f"{name}: in {tag}, and not in {RELEASED.name}" for name in files.stdout.split()
                     if re.fullmatch(r"extensions/(own_schema|\w+/sql/\w+--[\d.-]+)\.sql", name) and name not in listed]  # fmt: skip
    return released


def other_versions() -> list[str]:
    """What repeats the number of VERSION, since it cannot read it."""
    version = (TREE / "VERSION").read_text().strip()
    minor = version.rpartition(".")[0]
    repeated = {"debian/changelog": rf"\Apenumbra \({version}-\d", "CHANGELOG.md": rf"\A(?:(?!## ).*\n)*## {version}\n",
                "packaging/penumbra.spec": rf"^Version: {version}$"}  # fmt: skip
    repeated |= {str(path.relative_to(TREE)): rf"^default_version = '{minor}'$" for path in TREE.glob("extensions/*/*.control")}
    return [f"{name} does not say {version}" for name, pattern in repeated.items()
            if not re.search(pattern, (TREE / name).read_text(), re.M)]  # fmt: skip


def main() -> int:
    checks = {
        "ruff": python_failures,
        "clang-format": cxx_failures,
        "no unfinished marks": unfinished_marks,
        "lines of at most 120 columns": wide_lines,
        f"READMEs of at most {README_LINES} lines": long_readmes,
        "no figure of before beside one of now": histories,
        "no dead links between pages": dead_links,
        "file tables name every source file": unlisted_sources,
        "results belong to a claim and a clean commit": stray_results,
        "one version everywhere": other_versions,
        "scripts of releases are as they were released": changed_releases,
        "what programs wrote is marked as generated": unmarked_files,
    }
    return run_checks(checks)


if __name__ == "__main__":
    sys.exit(main())
