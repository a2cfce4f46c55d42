"""Style that a machine can see: ruff, unfinished marks, pages of at most 120 columns."""

import re
import subprocess
import sys
from pathlib import Path

from named_checks import run_checks

TREE = Path(__file__).resolve().parents[1]
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


def unfinished_marks() -> list[str]:
    return [f"{path.relative_to(TREE)}:{number}: {line.strip()}"
            for path in tracked("*.c", "*.h", "*.cc", "*.py", "*.sh")
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
            if UNFINISHED.search(line)]  # fmt: skip


def wide_lines() -> list[str]:
    """Tables, code and what a program wrote are as wide as they are."""
    failures = []
    for path in tracked("*.md"):
        is_code = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            is_code ^= line.lstrip().startswith("```")
            if len(line) > 120 and not is_code and not line.lstrip().startswith("|") and " " in line.strip():
                failures.append(f"{path.relative_to(TREE)}:{number} has {len(line)} columns")
    return failures


def main() -> int:
    checks = {
        "ruff": python_failures,
        "no unfinished marks": unfinished_marks,
        "pages wrap at 120 columns": wide_lines,
    }
    return run_checks(checks)


if __name__ == "__main__":
    sys.exit(main())
