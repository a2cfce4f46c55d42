"""Specs of isolation tests whose steps execute prepared statements, so that their plans are kept.

isolationtester sends each step as text, whose plan lives for one execution.
"""

import re

# A block ends at the first brace, as in isolationtester.
BLOCK = r"\{([^}]*)\}"
SESSION = re.compile(r"^session\s+(?:\w+|\"[^\"]+\")\s*$", re.M)
SETUP = re.compile(rf"\s*(?:#[^\n]*\s*)*setup\s*{BLOCK}")
STEP = re.compile(rf"^(step\s+(?:\w+|\"[^\"]+\")\s*){BLOCK}", re.M)
PREPARABLE = re.compile(r"\s*((?:SELECT|UPDATE)\b[^;]*);?\s*", re.I)
NOT_UNDONE = re.compile(r"advisory|pg_sleep|notify|nextval|setval|pg_\w*backend|pg_export", re.I)
# Each statement is executed twice and undone before the permutation begins, so that its next execution can be on a ready
# state. One that fails there, or has to wait, is prepared at least, if its tables exist.
WARM = """ DO $do$ BEGIN
  IF current_setting('penumbra_lookup.max_plans', true) IS NOT NULL THEN
    RAISE LOG 'executions on ready states: %', (SELECT executions FROM penumbra_lookup.executions WHERE outcome = 'ready');
    PERFORM penumbra_lookup.reset_executions();
  END IF;
END $do$; DEALLOCATE ALL; SET enable_seqscan = off; SET jit = off; BEGIN; SET LOCAL lock_timeout = '10ms'; {}ROLLBACK;"""
WARM_ONE = """DO $do$ BEGIN
  EXECUTE $s$PREPARE {name} AS {query}$s$;
  FOR i IN 1..2 LOOP
    BEGIN EXECUTE 'EXECUTE {name}'; RAISE EXCEPTION ''; EXCEPTION WHEN OTHERS THEN NULL; END;
  END LOOP;
EXCEPTION WHEN OTHERS THEN NULL; END $do$; """


def prepared_spec(text: str) -> str:
    starts = [match.end() for match in SESSION.finditer(text)]
    parts = [text[: starts[0]]]
    for number, (begin, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        parts.append(_prepared_session(text[begin:end], f"of_{number}_"))
    return "".join(parts)


def _prepared_session(text: str, prefix: str) -> str:
    prepared = []

    def prepare(match: re.Match) -> str:
        statement = PREPARABLE.fullmatch(match[2])
        if not statement or NOT_UNDONE.search(match[2]):
            return match[0]
        name = f"{prefix}{len(prepared)}"
        prepared.append(WARM_ONE.format(name=name, query=statement[1]))
        return f"{match[1]}{{ EXECUTE {name}; }}"

    text = STEP.sub(prepare, text)
    if not prepared:
        return text
    warm = WARM.format("".join(prepared))
    setup = SETUP.match(text)
    if setup:
        return f"\nsetup {{{warm}{setup[1]}}}{text[setup.end():]}"
    return f"\nsetup {{{warm}}}{text}"
