-- What is read from cached tables all the same, why, and what helps: the remedies are followed one after the other.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE TABLE stale (id int, n int, filler char(2000)) WITH (fillfactor = 100);
ALTER TABLE stale ALTER COLUMN filler SET STORAGE PLAIN;
INSERT INTO stale SELECT i, 0, 'x' FROM generate_series(1, 300) i;
VACUUM stale;
SELECT penumbra.load('stale', '{id, n}');
CREATE VIEW look AS
SELECT relname, heap_pages, heap_percent, lost_pages, stale_at BETWEEN now() - interval '1 hour' AND clock_timestamp() AS since,
       regexp_replace(reason, 'since .*', 'since ...') AS reason, remedy
FROM penumbra.staleness;
SELECT * FROM look;

-- new pages, before a scan and after two
INSERT INTO stale SELECT i, 1, 'x' FROM generate_series(301, 390) i;
SELECT * FROM look;
SET penumbra.mode = require;
SELECT sum(n) FROM stale;
SELECT sum(n) FROM stale;
SELECT * FROM look;
SELECT penumbra.refresh('stale');
SELECT sum(n) FROM stale;
SELECT * FROM look;

-- a transaction that is older than what was deleted; what was inserted since is cached nevertheless
BEGIN;
SELECT pg_current_xact_id() IS NOT NULL AS has_number;
PREPARE TRANSACTION 'holder';
DELETE FROM stale WHERE id <= 30;
INSERT INTO stale SELECT i, 1, 'x' FROM generate_series(391, 420) i;
SELECT sum(n) FROM stale;
SELECT reason, remedy FROM look;
SELECT penumbra.refresh('stale');
SELECT sum(n) FROM stale;
SELECT * FROM look;
VACUUM stale;
SELECT penumbra.refresh('stale');
SELECT reason FROM look;
ROLLBACK PREPARED 'holder';
SELECT * FROM look;
VACUUM stale;
SELECT penumbra.refresh('stale');
SELECT sum(n) FROM stale;
SELECT * FROM look;

-- who may see what
CREATE ROLE stale_reader;
SET ROLE stale_reader;
SELECT count(*) FROM penumbra.staleness;
RESET ROLE;
GRANT SELECT (id) ON stale TO stale_reader;
GRANT USAGE ON SCHEMA penumbra TO stale_reader;
SET ROLE stale_reader;
SELECT count(*) FROM penumbra.staleness;
RESET ROLE;
REVOKE USAGE ON SCHEMA penumbra FROM stale_reader;
DROP VIEW look;
DROP TABLE stale;
DROP ROLE stale_reader;
