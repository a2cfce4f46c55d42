-- UPDATE by key on ready states.
CREATE EXTENSION penumbra_lookup;
CREATE VIEW taken AS SELECT executions FROM penumbra_lookup.executions WHERE outcome = 'ready';
-- each key of the array; an error ends its own update only
CREATE FUNCTION run(statement text, keys int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	key int;
	answer text := '';
BEGIN
	FOREACH key IN ARRAY keys LOOP
		BEGIN
			EXECUTE format('EXECUTE %I(%s)', statement, key);
			answer := answer || ' ok';
		EXCEPTION WHEN OTHERS THEN
			answer := answer || ' ' || SQLSTATE;
		END;
	END LOOP;
	RETURN answer;
END $$;

CREATE TABLE items (id int PRIMARY KEY, code int UNIQUE, name text NOT NULL, price numeric CHECK (price < 1000), notes text);
INSERT INTO items SELECT i, i * 10, 'item ' || i, i, repeat('note ', i) FROM generate_series(1, 100) i;
VACUUM ANALYZE items;

-- in place and with new index entries; no row, several rows; RETURNING; the key itself
PREPARE price(int) AS UPDATE items SET price = price + $1 WHERE id = $1;
PREPARE codes(int) AS UPDATE items SET code = code + 1, notes = notes || $1 WHERE id = $1 RETURNING id, code, length(notes), tableoid::regclass;
PREPARE several(int) AS UPDATE items SET name = name || '+' WHERE id BETWEEN $1 AND $1 + 2 RETURNING *;
PREPARE moved(int) AS UPDATE items SET id = id + 1000 WHERE id = $1 RETURNING id;
EXPLAIN (COSTS OFF) EXECUTE several(1);
SELECT penumbra_lookup.reset_executions();
SELECT run('price', '{1,2,3,3,3,101,NULL,4}');
EXECUTE codes(5);
EXECUTE codes(5);
EXECUTE codes(5);
EXECUTE codes(500);
EXECUTE codes(5);
EXECUTE several(1);
EXECUTE several(2);
EXECUTE several(3);
EXECUTE several(99);
EXECUTE moved(10);
EXECUTE moved(11);
EXECUTE moved(12);
EXECUTE moved(12);
SELECT executions FROM taken;
SELECT id, code, name, price, length(notes) FROM items WHERE id < 6 OR id > 1000 ORDER BY id;
-- what the first executions do not change, they do not leave a state for
PREPARE nothing(int) AS UPDATE items SET price = 0 WHERE id = -$1;
SELECT penumbra_lookup.reset_executions();
SELECT run('nothing', '{1,2,3,4,-6,-7,8}');
SELECT outcome, executions FROM penumbra_lookup.executions WHERE executions > 0 AND outcome <> 'not cached' ORDER BY 1;

-- errors: a key that exists, NULL, a check, an expression; each in a subtransaction, and then another row
PREPARE code_is(int) AS UPDATE items SET code = CASE $1 WHEN 4 THEN 10 WHEN 6 THEN 20 ELSE 5000 + $1 END WHERE id = 20 + $1;
PREPARE null_name(int) AS UPDATE items SET name = CASE WHEN $1 <> 3 THEN name END WHERE id = 30;
PREPARE price_is(int) AS UPDATE items SET price = $1 WHERE id = 40;
PREPARE divided(int) AS UPDATE items SET price = 100 / $1 WHERE id = 41;
SELECT run('code_is', '{1,2,3,4,5,6,4,2}'), run('null_name', '{1,2,3,1,3}'), run('price_is', '{1,2,3,4000,5}'),
	run('divided', '{1,2,0,0,3,0,4}');
SELECT id, code, name, price FROM items WHERE id BETWEEN 20 AND 42 AND (code > 1000 OR price <> id) ORDER BY id;
EXECUTE price_is(2000);
EXECUTE price_is(7);
BEGIN;
EXECUTE price_is(8);
SAVEPOINT s;
EXECUTE price_is(9);
EXECUTE divided(0);
ROLLBACK TO s;
EXECUTE price_is(10);
EXECUTE divided(2);
RELEASE s;
COMMIT;
SELECT id, price FROM items WHERE id IN (40, 41) ORDER BY id;

-- read-only transactions, rights of columns, roles
BEGIN READ ONLY;
EXECUTE price_is(11);
ROLLBACK;
BEGIN READ ONLY;
SELECT 1;
EXECUTE codes(5);
ROLLBACK;
CREATE ROLE regress_lookup_writer;
GRANT SELECT ON items TO regress_lookup_writer;
GRANT UPDATE (price) ON items TO regress_lookup_writer;
SET ROLE regress_lookup_writer;
EXECUTE price(50);
EXECUTE price(50);
EXECUTE codes(50);
RESET ROLE;
REVOKE UPDATE (price) ON items FROM regress_lookup_writer;
SET ROLE regress_lookup_writer;
EXECUTE price(50);
RESET ROLE;
SELECT id, price FROM items WHERE id = 50;

-- an execution within itself, and rows that its own functions change
CREATE FUNCTION nested(wanted int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	UPDATE items SET price = CASE WHEN wanted > 60 THEN nested(wanted - 1) ELSE 0 END + 1 WHERE id = wanted;
	RETURN (SELECT price FROM items WHERE id = wanted);
END $$;
SELECT nested(60), nested(63), nested(62), nested(65);
CREATE FUNCTION touch(wanted int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN UPDATE items SET name = 'touched' WHERE id = wanted; RETURN wanted; END $$;
PREPARE touching(int) AS UPDATE items SET price = CASE WHEN $1 > 70 THEN touch(70) ELSE $1 END WHERE id = 70;
SELECT run('touching', '{1,2,3,71,4,71,5}');
SELECT name, price FROM items WHERE id = 70;

-- what a transaction undoes
BEGIN;
EXECUTE price(80);
SAVEPOINT s;
EXECUTE price(80);
ROLLBACK TO s;
EXECUTE price(80);
COMMIT;
BEGIN;
EXECUTE price(80);
ROLLBACK;
SELECT price FROM items WHERE id = 80;

-- the table and its indexes change
SELECT run('price', '{90,90,90}');
CREATE INDEX items_price ON items (price);
SELECT run('price', '{90,90,90}');
CREATE INDEX items_expression ON items (abs(price)) WHERE price > 90;
SELECT run('price', '{90,90,90}');
SET enable_indexscan = off;
SELECT count(*) FROM items WHERE price = 630;
RESET enable_indexscan;
EXPLAIN (COSTS OFF) SELECT id FROM items WHERE abs(price) = 900 AND price > 90;
SELECT id FROM items WHERE abs(price) = 900 AND price > 90;
DROP INDEX items_price;
ALTER TABLE items ADD COLUMN extra int NOT NULL DEFAULT 2 CHECK (extra > 0);
SELECT run('price', '{90,90}');
ALTER TABLE items ADD CONSTRAINT not_94 CHECK (price <> 94 OR id = 94);
PREPARE one_more(int) AS UPDATE items SET price = price + 1, extra = extra - 1 WHERE id = $1;
SELECT run('one_more', '{91,92,93,91}');
UPDATE items SET extra = 100 WHERE id <> 94;
SELECT run('one_more', '{91,91,92,92,93}');
ALTER TABLE items DROP CONSTRAINT not_94;
SELECT run('one_more', '{91,91,92,92,93}');
SELECT id, price, extra FROM items WHERE id BETWEEN 90 AND 93 ORDER BY id;
ALTER TABLE items DROP COLUMN extra;
SELECT run('one_more', '{91}'), run('price', '{90}');
TRUNCATE items;
SELECT run('price', '{90}');
INSERT INTO items SELECT i, i * 10, 'item ' || i, i, repeat('note ', 1000 * i) FROM generate_series(1, 20) i;
SELECT run('price', '{1,2,3}'), run('codes', '{1,2,3,3,3}');
SELECT id, code, price, length(notes), md5(notes) FROM items WHERE id < 4 ORDER BY id;

-- triggers: before and after rows and statements; the trigger is made and dropped between executions
CREATE TABLE log (number int GENERATED ALWAYS AS IDENTITY, entry text);
CREATE FUNCTION write_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO log (entry) VALUES (concat_ws(' ', TG_NAME, TG_WHEN, TG_LEVEL, OLD.price, NEW.price));
	IF TG_LEVEL = 'ROW' AND TG_WHEN = 'BEFORE' THEN
		IF NEW.price > 500 THEN
			RETURN NULL;
		END IF;
		NEW.name := NEW.name || '!';
	END IF;
	RETURN NEW;
END $$;
SELECT run('price', '{5,5,5}');
CREATE TRIGGER before_row BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION write_log();
SELECT run('price', '{5,5,5,5}');
CREATE TRIGGER after_row AFTER UPDATE ON items FOR EACH ROW EXECUTE FUNCTION write_log();
CREATE TRIGGER before_all BEFORE UPDATE ON items EXECUTE FUNCTION write_log();
CREATE TRIGGER after_all AFTER UPDATE ON items EXECUTE FUNCTION write_log();
SELECT penumbra_lookup.reset_executions();
SELECT run('price', '{6,6,6,500,6}'), run('price_is', '{1}'), run('several', '{7,7,7}');
SELECT executions FROM taken;
SET session_replication_role = replica;
SELECT run('price', '{6}');
RESET session_replication_role;
ALTER TABLE items DISABLE TRIGGER before_row;
SELECT run('price', '{6,6,6}');
CREATE OR REPLACE FUNCTION write_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO log (entry) VALUES (TG_NAME || ' new'); RETURN NEW; END $$;
SELECT run('price', '{6}');
SELECT entry FROM log ORDER BY number;
SELECT id, name, price FROM items WHERE id BETWEEN 5 AND 9 ORDER BY id;
DROP TRIGGER before_row ON items;
DROP TRIGGER after_row ON items;
DROP TRIGGER before_all ON items;
DROP TRIGGER after_all ON items;
TRUNCATE log;
-- a trigger that fails, and one that updates the same table by the same plan
CREATE FUNCTION chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.price >= 600 THEN
		RAISE EXCEPTION 'too much';
	END IF;
	IF NEW.id < 15 THEN
		UPDATE items SET price = NEW.price WHERE id = NEW.id + 1;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER chain AFTER UPDATE ON items FOR EACH ROW EXECUTE FUNCTION chain();
PREPARE chained(int) AS UPDATE items SET price = $1 WHERE id = 11;
SELECT run('chained', '{1,2,3,600,4,700,5}');
SELECT id, price FROM items WHERE id BETWEEN 10 AND 16 ORDER BY id;
DROP TRIGGER chain ON items;

-- foreign keys: of the referencing and of the referenced table, with a cascade, deferred
CREATE TABLE parents (id int PRIMARY KEY, name text);
CREATE TABLE children (id int PRIMARY KEY, parent int REFERENCES parents ON UPDATE CASCADE, strict int
	REFERENCES parents DEFERRABLE, name text);
INSERT INTO parents SELECT i FROM generate_series(1, 30) i;
INSERT INTO children SELECT i, i, i % 3 + 1 FROM generate_series(1, 20) i;
ANALYZE parents, children;
PREPARE parent_name(int) AS UPDATE parents SET name = name || $1 WHERE id = $1;
PREPARE parent_key(int) AS UPDATE parents SET id = id + 100 WHERE id = $1;
PREPARE child_key(int) AS UPDATE children SET parent = $1 WHERE id = 5;
PREPARE child_strict(int) AS UPDATE children SET strict = $1 WHERE id = 6;
SELECT penumbra_lookup.reset_executions();
SELECT run('parent_name', '{1,2,3,4,5}'), run('parent_key', '{10,11,12,1,13,2,14}'), run('child_key', '{1,2,3,50,4,110,7}'),
	run('child_strict', '{1,2,3,60,4}');
SELECT executions > 5 FROM taken;
SELECT id, parent, strict FROM children WHERE id <> parent OR id = 6 ORDER BY id;
BEGIN;
SET CONSTRAINTS ALL DEFERRED;
EXECUTE child_strict(70);
EXECUTE child_strict(3);
EXECUTE child_strict(71);
COMMIT;
SELECT run('child_strict', '{5,6}');

-- row-level security with a check, views with one, rules
CREATE TABLE owned (id int PRIMARY KEY, owner name, value int);
INSERT INTO owned SELECT i, CASE WHEN i % 2 = 0 THEN 'regress_lookup_writer' ELSE 'other' END, i FROM generate_series(1, 20) i;
ALTER TABLE owned ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON owned USING (owner = current_user) WITH CHECK (value < 100);
GRANT ALL ON owned TO regress_lookup_writer;
PREPARE own(int) AS UPDATE owned SET value = $1 * 20 WHERE id = $1;
SELECT run('own', '{1,2,3,4}');
SET ROLE regress_lookup_writer;
SELECT run('own', '{1,2,4,2,4,6,8,2}');
RESET ROLE;
SELECT run('own', '{9}');
SELECT id, value FROM owned WHERE id < 10 ORDER BY id;
CREATE VIEW small AS SELECT id, value FROM owned WHERE value < 50 WITH CHECK OPTION;
PREPARE by_view(int) AS UPDATE small SET value = value + $1 WHERE id = 11;
SELECT penumbra_lookup.reset_executions();
SELECT run('by_view', '{1,1,1,40,1,1}');
SELECT executions FROM taken;
SELECT value FROM owned WHERE id = 11;
CREATE RULE also AS ON UPDATE TO owned DO ALSO INSERT INTO log (entry) VALUES (NEW.id || ' ' || NEW.value);
SELECT run('own', '{1,1,1}');
CREATE RULE instead AS ON UPDATE TO small DO INSTEAD UPDATE items SET price = NEW.value WHERE id = NEW.id;
SELECT run('by_view', '{1,2,3,4}');
SELECT entry FROM log ORDER BY number;
SELECT id, price FROM items WHERE id = 11;

-- PL/pgSQL: FOUND, INTO, loops with exceptions
CREATE FUNCTION looped() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text := '';
	new_price numeric;
BEGIN
	FOR i IN 1..12 LOOP
		BEGIN
			UPDATE items SET price = price + i, code = CASE WHEN i % 4 = 0 THEN 10 ELSE code END WHERE id = 20 - i
				RETURNING price INTO STRICT new_price;
			answer := answer || ' ' || new_price;
		EXCEPTION WHEN unique_violation THEN
			answer := answer || ' -';
		END;
		UPDATE items SET name = 'looped' WHERE id = i * 3;
		answer := answer || CASE WHEN FOUND THEN '+' ELSE '' END;
	END LOOP;
	RETURN answer;
END $$;
SELECT looped();
SELECT count(*), sum(price), sum(code), count(*) FILTER (WHERE name = 'looped') FROM items;

-- a published table without an identity of its rows
CREATE TABLE published (id int, value int);
CREATE INDEX ON published (id);
INSERT INTO published SELECT i FROM generate_series(1, 20) i;
ANALYZE published;
PREPARE published(int) AS UPDATE published SET value = 1 WHERE id = $1;
SELECT run('published', '{1,2,3,4}');
SET client_min_messages = error;
CREATE PUBLICATION lookup_publication FOR TABLE published;
RESET client_min_messages;
SELECT run('published', '{5,6}');
ALTER TABLE published REPLICA IDENTITY FULL;
SELECT run('published', '{7,8,9,10}');
DROP PUBLICATION lookup_publication;

-- statistics are the same with ready states as without
CREATE TABLE counted (id int PRIMARY KEY, value int, indexed int) WITH (fillfactor = 50);
CREATE INDEX ON counted (indexed);
INSERT INTO counted SELECT i, 0, 0 FROM generate_series(1, 100) i;
VACUUM ANALYZE counted;
PREPARE counts(int) AS UPDATE counted SET value = $1 WHERE id = $1;
PREPARE indexes(int) AS UPDATE counted SET indexed = $1 WHERE id = $1;
CREATE FUNCTION count_both() RETURNS void LANGUAGE sql
	AS $$SELECT run('counts', '{1,2,3,4,5,6,7,8}'), run('indexes', '{1,2,3,4,5,6,7,8}')$$;
CREATE FUNCTION counts() RETURNS TABLE (updates bigint, hot bigint, scans bigint, entries bigint, rows bigint) LANGUAGE sql AS $$
	SELECT n_tup_upd, n_tup_hot_upd, t.idx_scan, i.idx_tup_read, t.idx_tup_fetch
	FROM pg_stat_user_tables t JOIN pg_stat_user_indexes i USING (relid) WHERE indexrelid = 'counted_pkey'::regclass $$;
SELECT count_both();
SELECT pg_stat_force_next_flush();
SELECT * FROM counts() \gset first_
SET penumbra_lookup.max_plans = 0;
SELECT count_both();
SELECT pg_stat_force_next_flush();
SELECT * FROM counts() \gset stock_
RESET penumbra_lookup.max_plans;
SELECT count_both();
SELECT count_both();
SELECT pg_stat_force_next_flush();
SELECT * FROM counts() \gset ready_
SELECT (:ready_updates - :stock_updates) - 2 * (:stock_updates - :first_updates) AS updates,
	(:ready_hot - :stock_hot) - 2 * (:stock_hot - :first_hot) AS hot,
	(:ready_scans - :stock_scans) - 2 * (:stock_scans - :first_scans) AS scans,
	(:ready_rows - :stock_rows) - 2 * (:stock_rows - :first_rows) AS rows;

-- what is left to PostgreSQL
CREATE TABLE generated (id int PRIMARY KEY, value int, twice int GENERATED ALWAYS AS (value * 2) STORED);
CREATE TABLE parted (id int PRIMARY KEY, value int) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (1000);
CREATE TABLE heirs (id int PRIMARY KEY, value int);
CREATE TABLE heir (PRIMARY KEY (id)) INHERITS (heirs);
CREATE TABLE conditions (id int PRIMARY KEY, value int);
CREATE TRIGGER condition AFTER UPDATE ON conditions FOR EACH ROW WHEN (OLD.value > 3) EXECUTE FUNCTION write_log();
CREATE TABLE transitions (id int PRIMARY KEY, value int);
CREATE TRIGGER transition AFTER UPDATE ON transitions REFERENCING NEW TABLE AS new_rows EXECUTE FUNCTION write_log();
INSERT INTO generated SELECT i, i FROM generate_series(1, 9) i;
INSERT INTO parted SELECT i, i FROM generate_series(1, 9) i;
INSERT INTO heirs SELECT i, i FROM generate_series(1, 9) i;
INSERT INTO heir SELECT i, i FROM generate_series(1, 9) i;
INSERT INTO conditions SELECT i, i FROM generate_series(1, 9) i;
INSERT INTO transitions SELECT i, i FROM generate_series(1, 9) i;
TRUNCATE log;
PREPARE generated(int) AS UPDATE generated SET value = value + 1 WHERE id = $1;
PREPARE parted(int) AS UPDATE parted SET value = value + 1 WHERE id = $1;
PREPARE part(int) AS UPDATE part SET value = value + 1 WHERE id = $1;
PREPARE heirs(int) AS UPDATE heirs SET value = value + 1 WHERE id = $1;
PREPARE conditions(int) AS UPDATE conditions SET value = value + 1 WHERE id = $1;
PREPARE transitions(int) AS UPDATE transitions SET value = value + 1 WHERE id = $1;
PREPARE joined(int) AS UPDATE heir SET value = c.value FROM conditions c WHERE heir.id = $1 AND c.id = heir.id;
PREPARE deletes(int) AS DELETE FROM heir WHERE id = $1;
SELECT penumbra_lookup.reset_executions();
SELECT run('generated', '{1,1,1,1}'), run('parted', '{1,1,1,1}'), run('part', '{1,1,1,1}'), run('heirs', '{1,1,1,1}'),
	run('conditions', '{1,1,1,1}'), run('transitions', '{1,1,1,1}'), run('joined', '{1,1,1,1}'), run('deletes', '{1,2,3,3}');
SELECT outcome, executions > 20 FROM penumbra_lookup.executions WHERE outcome IN ('ready', 'statement') ORDER BY 1;
SELECT value, twice FROM generated WHERE id = 1;
SELECT entry FROM log ORDER BY number;
SELECT (SELECT value FROM parted WHERE id = 1), (SELECT value FROM ONLY heirs WHERE id = 1), (SELECT value FROM conditions WHERE id = 1);
-- WHERE CURRENT OF is a scan by place
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM items WHERE id > 3 ORDER BY id;
FETCH c;
UPDATE items SET price = -1 WHERE CURRENT OF c;
COMMIT;
SELECT price FROM items WHERE id = 4;

DISCARD ALL;
DROP TABLE items, log, parents, children, owned, published, counted, generated, parted, heirs, conditions, transitions CASCADE;
DROP FUNCTION run, nested, touch, write_log, chain, looped, count_both, counts;
DROP VIEW taken;
DROP ROLE regress_lookup_writer;
DROP EXTENSION penumbra_lookup;
