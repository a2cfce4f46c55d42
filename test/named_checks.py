"""Named checks of the tree: one line each, the failures above it."""

from collections.abc import Callable


def run_checks(checks: dict[str, Callable[[], list[str]]]) -> int:
    failed = False
    for name, check in checks.items():
        failures = check()
        print("\n".join(f"  {failure}" for failure in failures), end="\n" if failures else "")
        print(f"{'FAILED' if failures else 'ok'}: {name}")
        failed |= bool(failures)
    return int(failed)
