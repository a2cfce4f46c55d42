"""Errors of many parts of the server, and where the tests' library crashes."""

SETUP = """
CREATE EXTENSION penumbra_backtrace;
CREATE TABLE parent (id int PRIMARY KEY, positive int CHECK (positive > 0), filled text NOT NULL);
CREATE TABLE child (id int REFERENCES parent);
CREATE VIEW dependent AS SELECT * FROM parent;
INSERT INTO parent VALUES (1, 1, 'x');
CREATE ROLE nobody_special;
CREATE FUNCTION divide(a int, b int) RETURNS int LANGUAGE plpgsql AS
    $$ DECLARE result int; BEGIN result := a / b; RETURN result; END $$;
CREATE FUNCTION raise_exception() RETURNS void LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'raised'; END $$;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM divide(NEW.id, 0); RETURN NEW; END $$;
CREATE TABLE guarded (id int);
CREATE TRIGGER refuse BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE FUNCTION crash(text) RETURNS void LANGUAGE c AS '{library}';
CREATE FUNCTION fail(text) RETURNS void LANGUAGE c AS '{library}';
CREATE FUNCTION crash_in_plpgsql(site text) RETURNS void LANGUAGE plpgsql AS
    $$ BEGIN PERFORM crash(site); END $$;
"""

ERRORS = {
    "the tests' library": "SELECT fail('XX001')",
    "division by zero": "SELECT 1 / 0",
    "PL/pgSQL, nested": "SELECT divide(g, g - 3) FROM generate_series(1, 5) g",
    "trigger": "INSERT INTO guarded VALUES (1)",
    "integer syntax": "SELECT 'abc'::int",
    "no such table": "SELECT * FROM nothing_of_this_name",
    "no such function": "SELECT nothing_of_this_name(1)",
    "syntax": "SELEKT 1",
    "unique": "INSERT INTO parent VALUES (1, 2, 'y')",
    "not null": "INSERT INTO parent VALUES (2, 2, NULL)",
    "check": "INSERT INTO parent VALUES (3, -1, 'z')",
    "foreign key": "INSERT INTO child VALUES (99)",
    "integer out of range": "SELECT 2147483647 + g FROM generate_series(1, 2) g",
    "numeric overflow": "SELECT 10::numeric ^ 200000",
    "RAISE": "SELECT raise_exception()",
    "regular expression": "SELECT 'a' ~ '('",
    "JSON": "SELECT '{bad'::json",
    "date": "SELECT '2020-13-45'::date",
    "permission": "SET ROLE nobody_special; SELECT * FROM parent",
    "time-out": "SET statement_timeout = '50ms'; SELECT pg_sleep(10)",
    "array": "SELECT '{1,{2}}'::int[]",
    "length": "SELECT repeat('x', 1073741824)",
    "two rows": "SELECT (SELECT generate_series(1, 2))",
    "encoding": "SELECT convert_from('\\xff', 'UTF8')",
    "dependency": "DROP TABLE parent",
    "aggregate": "SELECT sum(1 / (id - 1)) FROM parent GROUP BY positive",
}

CRASHES = {
    "NULL pointer": "SELECT crash('null_pointer')",
    "inlined": "SELECT crash('inlined')",
    "PL/pgSQL": "SELECT crash_in_plpgsql('null_pointer')",
    "stack overflow": "SELECT crash('stack_overflow')",
    "abort": "SELECT crash('abort_process')",
    "PANIC": "SELECT crash('panic')",
    "double free": "SELECT crash('double_free')",
    "jump to garbage": "SELECT crash('jump_to_garbage')",
    "bus error": "SELECT crash('bus_error')",
    "illegal instruction": "SELECT crash('illegal_instruction')",
    "broken heap": "SELECT crash('corrupt_heap')",
}

# Of these, some frames have debug information even where PostgreSQL has none.
FEW = ("the tests' library", "NULL pointer", "inlined", "stack overflow", "PL/pgSQL")
