"""Statements in SQL that later versions brought, by major version: reads, and writes whose effect is compared, too.

One statement is a paragraph. Each is run by the version that brought it and by later ones.
"""

TABLES = {
    15: """
CREATE TABLE events (id int PRIMARY KEY, k int NOT NULL, v int, n numeric, t text, d date, at timestamptz, j jsonb, u uuid, a int[], i interval);
INSERT INTO events SELECT g, g % 17, CASE WHEN g % 3 > 0 THEN (g * 7) % 31 END, (g % 100) / 8.0, 'Text ' || g % 23,
  date '2024-01-01' + g % 90, timestamptz '2024-01-01 00:00Z' + g * interval '37 minutes',
  jsonb_build_object('a', g % 11, 'b', CASE g % 5 WHEN 0 THEN NULL ELSE 'b' || g % 7 END, 'f', g / 4.0, 'ok', g % 2 = 0,
    'items', (SELECT jsonb_agg(jsonb_build_object('q', q, 'p', q * 1.5, 'name', 'n' || (g + q) % 9)) FROM generate_series(1, g % 4) q)),
  md5(g::text)::uuid, ARRAY[g % 5, 3, g % 2], g % 50 * interval '1 hour'
FROM generate_series(1, 6000) g;
CREATE TABLE kinds (k int PRIMARY KEY, name text NOT NULL, parent int);
INSERT INTO kinds SELECT g, 'kind ' || g, g / 3 FROM generate_series(0, 19) g;
CREATE TABLE stays (room int4range, during daterange, guest int, price numeric);
INSERT INTO stays SELECT int4range(g % 30, g % 30 + 1), daterange(date '2024-01-01' + g / 30 * 3, date '2024-01-01' + g / 30 * 3 + 2), g % 40, g % 9
FROM generate_series(0, 2999) g;
CREATE TABLE target (id int PRIMARY KEY, k int, v int, t text);
INSERT INTO target SELECT g * 2, g % 7, g % 13, 'old ' || g % 5 FROM generate_series(1, 1500) g;
CREATE VIEW visible AS SELECT id, k, v, t FROM target WHERE k < 6;
""",
    18: """
CREATE TABLE virtuals (id int PRIMARY KEY, a int, twice bigint GENERATED ALWAYS AS (a::bigint * 2) VIRTUAL, t text,
  upper_t text GENERATED ALWAYS AS (upper(t)) VIRTUAL, part int GENERATED ALWAYS AS (CASE WHEN a <> 0 THEN 100 / a ELSE -1 END) VIRTUAL,
  inverse int GENERATED ALWAYS AS (1000 / (a - 3)) VIRTUAL, stored int GENERATED ALWAYS AS (a % 10) STORED);
INSERT INTO virtuals (id, a, t) SELECT g, CASE WHEN g % 9 > 0 THEN g % 50 + 4 END, CASE WHEN g % 4 > 0 THEN 'v' || g % 12 END FROM generate_series(1, 5000) g;
CREATE TABLE rooms (id int4range, valid daterange, name text, PRIMARY KEY (id, valid WITHOUT OVERLAPS));
INSERT INTO rooms SELECT int4range(g % 40, g % 40 + 1), daterange(date '2024-01-01' + g / 40 * 10, date '2024-01-01' + g / 40 * 10 + 10), 'room ' || g FROM generate_series(0, 1999) g;
CREATE TABLE bookings (id int4range, room int4range, valid daterange, price numeric, PRIMARY KEY (id, valid WITHOUT OVERLAPS),
  FOREIGN KEY (room, PERIOD valid) REFERENCES rooms (id, PERIOD valid));
INSERT INTO bookings SELECT int4range(g, g + 1), int4range(g % 40, g % 40 + 1), daterange(date '2024-01-02' + g % 400, date '2024-01-02' + g % 400 + g % 5 + 1), g % 13 FROM generate_series(0, 1999) g;
CREATE TABLE skipped (few int, many int, v numeric);
INSERT INTO skipped SELECT g % 4, g, g % 77 FROM generate_series(1, 8000) g;
CREATE INDEX ON skipped (few, many);
CREATE TABLE facts (id int NOT NULL UNIQUE, k int NOT NULL, v int);
INSERT INTO facts SELECT g, g % 5, g % 3 FROM generate_series(1, 2000) g;
""",
    19: """
CREATE TABLE oids (id oid8, k int, place tid);
INSERT INTO oids SELECT ((g % 300)::bigint * 5000000000)::text::oid8, g % 9, ('(' || g % 100 || ',' || g % 7 + 1 || ')')::tid FROM generate_series(1, 4000) g;
""",
}
CACHED = {
    15: ("events", "kinds", "stays", "target"),
    18: ("virtuals", "rooms", "bookings", "skipped", "facts"),
    19: ("oids",),
}
# After they were loaded: rows that the heap serves.
CHANGES = {
    15: "UPDATE events SET v = v + 1, t = t || '!' WHERE id % 97 = 0; DELETE FROM events WHERE id % 89 = 0",
    18: "UPDATE virtuals SET a = a + 1 WHERE id % 71 = 0; DELETE FROM virtuals WHERE id % 67 = 0",
    19: "DELETE FROM oids WHERE k = 3; REPACK kinds USING INDEX kinds_pkey; REPACK skipped",
}

READS = {
    16: """
SELECT k, any_value(d) IS NOT NULL, count(*) FROM events WHERE v > 0x0F GROUP BY k

SELECT any_value(k) FROM events WHERE k = 3

SELECT k, json_arrayagg(v ORDER BY id NULL ON NULL), json_objectagg(id : v ABSENT ON NULL RETURNING jsonb) FROM events WHERE id < 200 GROUP BY k

SELECT count(*) FROM events WHERE j IS JSON OBJECT AND t IS NOT JSON

SELECT k, sum(v) FROM events WHERE n < 1_0 GROUP BY k HAVING sum(v) > 1_000

SELECT k, c FROM (SELECT k, count(*) AS c FROM events GROUP BY k) WHERE k > 3
""",
    17: """
SELECT JSON_VALUE(j, '$.a' RETURNING int) AS a, count(*), sum(v) FROM events GROUP BY 1

SELECT JSON_VALUE(j, '$.b') AS b, count(*), min(t) FROM events GROUP BY 1

SELECT sum(JSON_VALUE(j, '$.f' RETURNING numeric)), avg(JSON_VALUE(j, '$.f' RETURNING numeric)) FROM events WHERE k < 5

SELECT count(*), max(id) FROM events WHERE JSON_EXISTS(j, '$.items[*] ? (@.q > 2)')

SELECT count(*) FROM events WHERE JSON_EXISTS(j, '$.items[*] ? (@.q > $least)' PASSING v % 4 AS least)

SELECT k, count(*) FROM events WHERE JSON_VALUE(j, '$.ok' RETURNING boolean) GROUP BY k

SELECT JSON_QUERY(j, '$.items[0]' ) AS q, count(*) FROM events GROUP BY 1

SELECT JSON_QUERY(j, '$.items[*].name' WITH WRAPPER) AS names, count(*) FROM events GROUP BY 1

SELECT JSON_VALUE(j, '$.nothing' RETURNING int DEFAULT -1 ON EMPTY) AS a, count(*) FROM events GROUP BY 1

SELECT JSON_VALUE(j, '$.b' RETURNING int DEFAULT -1 ON ERROR) AS a, count(*) FROM events GROUP BY 1

SELECT JSON_VALUE(j, '$.b' RETURNING int ERROR ON ERROR) AS a, count(*) FROM events GROUP BY 1

SELECT JSON_VALUE(j, 'strict $.zz' ERROR ON ERROR) AS a, count(*) FROM events GROUP BY 1

SELECT CASE WHEN k > 20 THEN JSON_VALUE(j, '$.b' RETURNING int ERROR ON ERROR) ELSE 1 END AS a, count(*) FROM events GROUP BY 1

SELECT x.name, count(*), sum(x.p), sum(e.v) FROM events e, JSON_TABLE(e.j, '$.items[*]' COLUMNS (n FOR ORDINALITY, q int PATH '$.q', p numeric PATH '$.p', name text PATH '$.name')) x GROUP BY x.name

SELECT e.id, x.* FROM events e LEFT JOIN JSON_TABLE(e.j, '$.items[*]' COLUMNS (q int PATH '$.q', has boolean EXISTS PATH '$.p', rest jsonb PATH '$')) x ON x.q > 1 WHERE e.id < 300

SELECT count(*), sum(x.p) FROM events e, JSON_TABLE(e.j, '$' COLUMNS (a int PATH '$.a', NESTED PATH '$.items[*]' COLUMNS (p numeric PATH '$.p'))) x WHERE x.a = e.k

SELECT x.name, k.name, count(*) FROM events e, JSON_TABLE(e.j, '$.items[*]' COLUMNS (q int PATH '$.q', name text PATH '$.name')) x JOIN kinds k ON k.k = x.q GROUP BY 1, 2

SELECT k, (SELECT sum(x.q) FROM JSON_TABLE(e.j, '$.items[*]' COLUMNS (q int PATH '$.q')) x) AS s FROM events e WHERE id % 50 = 0

SELECT JSON_SCALAR(v)::text, count(*) FROM events GROUP BY v

SELECT JSON_SERIALIZE(j RETURNING text) FROM events WHERE id < 20

SELECT JSON_VALUE(to_jsonb(k), '$' RETURNING int DEFAULT -1 ON ERROR) AS x, count(*) FROM events GROUP BY 1

SELECT JSON_VALUE(to_jsonb(t), '$' RETURNING int DEFAULT length('abc') + 4 ON ERROR) AS x, count(*) FROM events GROUP BY 1

SELECT JSON_VALUE(to_jsonb(t), '$' RETURNING int ERROR ON ERROR) AS x, count(*) FROM events GROUP BY 1

SELECT JSON_VALUE(to_jsonb(t), '$.x' DEFAULT 'none' ON EMPTY) AS x, count(*) FROM events GROUP BY 1

SELECT JSON_QUERY(jsonb_build_array(k, v), '$[*] ? (@ > $low)' PASSING k AS low WITH WRAPPER)::text AS x, count(*) FROM events GROUP BY 1

SELECT count(*) FROM events WHERE JSON_EXISTS(jsonb_build_array(k, v), '$[*] ? (@ > 12)')

SELECT JSON_OBJECT('k': k, 'v': v ABSENT ON NULL RETURNING text) AS x, count(*) FROM events GROUP BY 1

SELECT JSON_ARRAY(k, v NULL ON NULL)::text AS x, count(*) FROM events GROUP BY 1

SELECT count(*) FROM events WHERE (k || t) IS JSON SCALAR OR k::text IS JSON

SELECT max(JSON_SERIALIZE(JSON_SCALAR(k))), min(JSON('[' || k || ']')::text) FROM events

SELECT JSON_VALUE(to_jsonb(k), '$' RETURNING numeric(5, 2)) AS x, JSON_VALUE(to_jsonb(d), '$' RETURNING date) AS y, count(*) FROM events GROUP BY 1, 2

SELECT to_bin(v), to_oct(k), count(*) FROM events GROUP BY 1, 2

SELECT k, sum(CASE WHEN id % 5 = 0 AND k = 3 THEN interval 'infinity' ELSE i END), max(i) FROM events GROUP BY k

SELECT k, avg(CASE WHEN k = 4 THEN CASE WHEN id % 2 = 0 THEN interval 'infinity' ELSE interval '-infinity' END ELSE i END) FROM events GROUP BY k

SELECT k, sum(i) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING), id FROM events WHERE id < 500

SELECT id, sum(CASE WHEN id % 10 = 0 THEN interval 'infinity' ELSE i END) OVER (ORDER BY id ROWS 2 PRECEDING) FROM events WHERE id < 500

SELECT count(*) FROM events WHERE at + CASE WHEN k = 2 THEN interval '-infinity' ELSE i END < timestamptz '2024-03-01 00:00Z'

SELECT CASE WHEN k > 12 THEN timestamptz 'infinity' ELSE at END - timestamptz '2024-01-01 00:00Z' AS age, count(*) FROM events WHERE id < 300 GROUP BY 1

SELECT min(at AT LOCAL), max(at AT LOCAL) FROM events

SELECT at::date, count(*) FROM events WHERE date_part('epoch', interval 'infinity') > v GROUP BY 1

SELECT k, count(*) FROM events e WHERE k IN (SELECT k FROM kinds x WHERE x.parent = e.v) GROUP BY k

SELECT count(*) FROM events e WHERE id IN (SELECT max(s.id) FROM events s WHERE s.k = e.k)

WITH s AS MATERIALIZED (SELECT k, sum(v) AS s FROM events GROUP BY k ORDER BY k) SELECT k.name, s.s FROM s JOIN kinds k USING (k) ORDER BY k.k

SELECT k FROM events UNION SELECT parent FROM kinds ORDER BY 1

SELECT k, v FROM events WHERE id < 1000 EXCEPT SELECT k, parent FROM kinds ORDER BY 1, 2

SELECT jsonb_path_query_first(j, '$.a.string()') AS a, count(*) FROM events GROUP BY 1

SELECT jsonb_path_query_first(j, '$.f.integer()', silent => true) AS a, count(*) FROM events WHERE id < 500 GROUP BY 1

SELECT count(*) FROM events WHERE j @? '$.items[*] ? (@.p.decimal() > 2)'

SELECT uuid_extract_version(u) AS version, count(*) FROM events GROUP BY 1

SELECT unicode_assigned(t), count(*) FROM events GROUP BY 1

SELECT e.k, m.action FROM events e, LATERAL (SELECT CASE WHEN e.v > 3 THEN 'many' END AS action) m WHERE e.id < 100 ORDER BY e.id

SELECT id, row_number() OVER (PARTITION BY k ORDER BY id) AS r FROM (SELECT * FROM events ORDER BY random()) s WHERE id < 1000

SELECT id, ntile(4) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 50 FOLLOWING), rank() OVER (ORDER BY n RANGE BETWEEN 3 PRECEDING AND 1 FOLLOWING) FROM events

SELECT id, row_number() OVER (ORDER BY id ROWS BETWEEN -1 PRECEDING AND CURRENT ROW), dense_rank() OVER (ORDER BY k, id GROUPS BETWEEN (SELECT 1 / (k - k) FROM kinds LIMIT 1) PRECEDING AND CURRENT ROW) FROM events

SELECT * FROM (SELECT id, k, row_number() OVER (PARTITION BY k ORDER BY id) AS r, sum(v) OVER (PARTITION BY k) AS s FROM events) w WHERE r <= 2 AND s > 3

SELECT count(*), sum(random(1, 1)) FROM events
""",
    18: """
SELECT twice, count(*), sum(twice) FROM virtuals GROUP BY twice

SELECT upper_t, count(*), min(part), max(part) FROM virtuals WHERE twice > 20 GROUP BY upper_t

SELECT sum(twice), sum(part), sum(inverse), sum(stored) FROM virtuals

SELECT * FROM virtuals WHERE part = 3 ORDER BY id

SELECT id, upper_t, rank() OVER (PARTITION BY upper_t ORDER BY twice, id) FROM virtuals

SELECT v.upper_t, count(*) FROM virtuals v JOIN virtuals w ON w.twice = v.a GROUP BY 1

SELECT count(w.upper_t), count(*), sum(w.twice) FROM virtuals v LEFT JOIN virtuals w ON w.id = v.twice AND w.upper_t > 'V3'

SELECT coalesce(w.part, -7), count(*) FROM kinds k FULL JOIN virtuals w ON w.a = k.k GROUP BY 1

SELECT v.* FROM virtuals v RIGHT JOIN kinds k ON k.k = v.twice WHERE k.k < 12

SELECT k.k, w.twice, w.upper_t FROM kinds k LEFT JOIN LATERAL (SELECT twice, upper_t FROM virtuals v WHERE v.a = k.k ORDER BY id LIMIT 1) w ON true

SELECT DISTINCT twice, stored FROM virtuals ORDER BY twice NULLS FIRST, stored

SELECT twice, upper_t, count(*) FROM virtuals GROUP BY ROLLUP (twice, upper_t)

SELECT grouping(part), part, sum(a) FROM virtuals GROUP BY GROUPING SETS ((part), ())

SELECT v FROM virtuals v WHERE twice < 20 ORDER BY id

SELECT count(v), count(v.*) FROM virtuals v WHERE v.upper_t IS NOT NULL

SELECT to_jsonb(v) FROM virtuals v WHERE id < 40 ORDER BY id

SELECT count(*) FROM virtuals WHERE EXISTS (SELECT FROM kinds WHERE kinds.k = virtuals.twice)

SELECT count(*) FROM virtuals WHERE twice IN (SELECT k FROM kinds WHERE parent > 2) OR part IS NULL

SELECT part + 1 AS p, sum(twice) FILTER (WHERE upper_t LIKE 'V1%') FROM virtuals GROUP BY part + 1 HAVING count(*) > 3 ORDER BY 1

SELECT * FROM (SELECT twice AS x FROM virtuals UNION ALL SELECT k FROM kinds) s WHERE x < 30 ORDER BY x

SELECT count(*), sum(b.price) FROM bookings b JOIN rooms r ON r.id = b.room AND r.valid && b.valid

SELECT r.name, sum(b.price) FROM rooms r LEFT JOIN bookings b ON b.room = r.id AND b.valid <@ r.valid GROUP BY r.name

SELECT r.id, count(DISTINCT r.valid), range_agg(r.valid) FROM rooms r GROUP BY r.id

SELECT count(*), sum(v) FROM skipped WHERE many = 77

SELECT count(*), sum(v) FROM skipped WHERE many BETWEEN 100 AND 160

SELECT few, many, v FROM skipped WHERE many IN (5, 99, 4711) ORDER BY many

SELECT count(*), sum(a.v) FROM events a JOIN events b ON a.id = b.id

SELECT a.k, count(*), sum(b.v) FROM events a JOIN events b ON a.id = b.id AND b.k > 3 WHERE a.n > 2 GROUP BY a.k

SELECT a.t, b.v, count(c.name) FROM events a JOIN events b USING (id) LEFT JOIN kinds c ON c.k = b.k GROUP BY 1, 2

SELECT count(*) FROM events a WHERE id IN (SELECT id FROM events b WHERE b.v > 5)

SELECT count(*) FROM kinds a JOIN kinds b ON a.k = b.k JOIN events e ON e.k = b.k AND e.v = a.k

SELECT a.v FROM events a JOIN events b ON a.id = b.id AND a.v = b.v WHERE a.k = 3

SELECT id, k, v, count(*) FROM facts GROUP BY id, k, v ORDER BY id LIMIT 20

SELECT k, count(*) FROM facts WHERE k = 1 OR k = 3 OR v = 2 GROUP BY k

SELECT count(*) FROM events WHERE k = 1 OR k = 5 OR k = v

SELECT count(*) FROM events WHERE (k, v) IN (VALUES (1, 2), (3, 4), (5, 6)) OR id IN (VALUES (1), (2), (3))

SELECT count(*) FROM events WHERE k IN (VALUES (1), (4), (NULL))

SELECT count(*), sum(v) FROM events WHERE t > 'Text 2' AND (t < 'Text 3' OR t = 'Text 7' OR t = 'Text 8')

SELECT array_sort(a), count(*) FROM events GROUP BY 1

SELECT array_reverse(a) AS r, sum(v) FROM events GROUP BY 1

SELECT k, min(a), max(a) FROM events GROUP BY k

SELECT k, min(row(v, id)), max(row(v, t)) FROM events GROUP BY k

SELECT min(t::bytea), max(t::bytea), k FROM events GROUP BY k

SELECT crc32(t::bytea), crc32c(t::bytea), count(*) FROM events GROUP BY 1, 2

SELECT k, sum(gamma(k + 1)::numeric), sum(round(lgamma(k + 1)::numeric, 6)) FROM events GROUP BY k

SELECT casefold(t), count(*) FROM events GROUP BY 1

SELECT reverse(t::bytea), count(*) FROM events GROUP BY 1

SELECT v::bytea, k::smallint::bytea, count(*) FROM events GROUP BY 1, 2

SELECT (j -> 'b')::text, (j -> 'nothing')::int, count(*) FROM events GROUP BY 1, 2

SELECT (jsonb_build_object('x', NULL) -> 'x')::int, (j -> 'items' -> 0 -> 'q')::int AS q, count(*) FROM events GROUP BY 1, 2

SELECT jsonb_strip_nulls(j, true), count(*) FROM events WHERE id < 60 GROUP BY 1

SELECT to_number('RN' || k, 'RN'), count(*) FROM events WHERE false GROUP BY 1

SELECT extract(week FROM i) AS w, count(*) FROM events GROUP BY 1

SELECT uuid_extract_version(uuidv7()), count(*) FROM events GROUP BY 1

SELECT count(DISTINCT uuidv7()), count(*) FROM events

SELECT count(*) FROM (SELECT uuidv7() AS u, id FROM events) s WHERE uuid_extract_timestamp(u) > '2020-01-01' AND id > 3

SELECT count(*) = count(DISTINCT u) FROM (SELECT uuidv4() AS u FROM events) s

SELECT k, count(*) FROM events e WHERE NOT EXISTS (SELECT FROM kinds x WHERE x.k = e.v) GROUP BY k

SELECT x, sum(v) FROM (SELECT k + 1 AS x, v FROM events GROUP BY k + 1, v) s GROUP BY x

SELECT k, 1 AS one, grouping(k, t), count(*) FROM events GROUP BY CUBE (k, t)

SELECT g, count(*) FROM (SELECT k AS g, NULL::int AS v FROM kinds UNION ALL SELECT k, v FROM events) s GROUP BY g, v
""",
    19: """
SELECT id, lag(v) IGNORE NULLS OVER w, lead(v) IGNORE NULLS OVER w, first_value(v) IGNORE NULLS OVER w, last_value(v) IGNORE NULLS OVER w, nth_value(v, 3) IGNORE NULLS OVER w FROM events WINDOW w AS (PARTITION BY k ORDER BY id)

SELECT id, lag(v, 3) IGNORE NULLS OVER w, lead(v, 2, -1) IGNORE NULLS OVER w, lag(v, -2) IGNORE NULLS OVER w, lead(v, k - 8, 77) IGNORE NULLS OVER w FROM events WINDOW w AS (PARTITION BY k ORDER BY d, id)

SELECT id, first_value(v) IGNORE NULLS OVER (w ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING), last_value(v) IGNORE NULLS OVER (w ROWS BETWEEN 2 FOLLOWING AND 5 FOLLOWING), nth_value(v, 2) IGNORE NULLS OVER (w ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING EXCLUDE CURRENT ROW) FROM events WINDOW w AS (PARTITION BY k ORDER BY id)

SELECT id, first_value(nullif(n, 6)) IGNORE NULLS OVER (w RANGE BETWEEN 5 PRECEDING AND CURRENT ROW EXCLUDE TIES), last_value(nullif(n::int % 5, 2)) IGNORE NULLS OVER (w GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE GROUP) FROM events WINDOW w AS (PARTITION BY k ORDER BY n)

SELECT id, lag(t) RESPECT NULLS OVER w, lag(CASE WHEN v > 9 THEN t END) IGNORE NULLS OVER w FROM events WINDOW w AS (ORDER BY id)

SELECT id, lag(v, NULL) IGNORE NULLS OVER w, nth_value(v, NULL) IGNORE NULLS OVER w FROM events WINDOW w AS (ORDER BY id)

SELECT id, nth_value(v, v - 3) IGNORE NULLS OVER w FROM events WHERE v > 3 WINDOW w AS (PARTITION BY k ORDER BY id)

SELECT id, nth_value(v, v - 3) IGNORE NULLS OVER w FROM events WINDOW w AS (PARTITION BY k ORDER BY id)

SELECT id, sum(v) IGNORE NULLS OVER (ORDER BY id) FROM events

SELECT id, rank() IGNORE NULLS OVER (ORDER BY id) FROM events

SELECT k, x FROM (SELECT k, id, last_value(v) IGNORE NULLS OVER (PARTITION BY k ORDER BY id) AS x FROM events) s WHERE x = 3

SELECT k, last_value(sum(v)) IGNORE NULLS OVER (ORDER BY k), lag(max(nullif(v, 30))) IGNORE NULLS OVER (ORDER BY k) FROM events GROUP BY k

SELECT id, k, count(*) FROM oids GROUP BY id, k

SELECT k, min(id), max(id), count(DISTINCT id) FROM oids GROUP BY k

SELECT o.k, count(*) FROM oids o JOIN oids p ON o.id = p.id AND p.k = 4 WHERE o.id > '30000000000' GROUP BY o.k

SELECT id, k, rank() OVER (PARTITION BY k ORDER BY id) FROM oids WHERE k < 3

SELECT tid_block(place) % 5 AS b, tid_offset(place) AS o, count(*) FROM oids GROUP BY 1, 2

SELECT k.name, count(*), sum(e.v) FROM events e JOIN kinds k USING (k) GROUP BY k.name

SELECT k.parent, count(*), sum(e.v), avg(e.n), max(e.t) FROM events e JOIN kinds k ON k.k = e.k GROUP BY k.parent

SELECT count(*) FROM events WHERE v NOT IN (SELECT k FROM kinds WHERE parent > 2)

SELECT count(*) FROM events WHERE k NOT IN (SELECT k FROM kinds WHERE parent > 2)

SELECT k, count(v), count(id), count(1) FROM events GROUP BY k

SELECT count(*) FROM events WHERE v IS DISTINCT FROM NULL AND coalesce(k, v) > 3

SELECT encode(t::bytea, 'base64url') AS e, count(*) FROM events GROUP BY 1

SELECT u::bytea = decode(replace(u::text, '-', ''), 'hex') AS same, count(*) FROM events GROUP BY 1

SELECT count(*), max(random(date '2024-01-01', date '2024-01-01')) FROM events

SELECT error_on_null(v) AS v, count(*) FROM events WHERE v IS NOT NULL GROUP BY 1

SELECT error_on_null(v) AS v, count(*) FROM events GROUP BY 1

SELECT uuid_extract_version(uuid(u::bytea)) AS v, count(*) FROM events GROUP BY 1

SELECT range_minus_multi(during, daterange('2024-01-02', '2024-02-01')) AS r, count(*) FROM stays GROUP BY 1

SELECT json_array(SELECT v FROM events WHERE id < 20 ORDER BY id)
""",
}

# Each with the query that shows what it did.
WRITES = {
    15: """
UPDATE target SET v = e.v, t = e.t FROM events e WHERE e.id = target.id AND e.k < 4

MERGE INTO target USING (SELECT id, k, sum(v) AS v, min(t) AS t FROM events GROUP BY id, k) s ON s.id = target.id WHEN MATCHED AND s.k = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.k, s.v, s.t)
""",
    17: """
MERGE INTO target USING (SELECT id, k, v, t FROM events WHERE id < 2000) s ON s.id = target.id WHEN MATCHED AND s.k = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v, t = s.t WHEN NOT MATCHED AND s.k < 9 THEN INSERT VALUES (s.id, s.k, s.v, s.t) RETURNING merge_action(), target.*, s.k

MERGE INTO target USING (SELECT k, count(*)::int AS c FROM events GROUP BY k) s ON s.k = target.v WHEN MATCHED THEN UPDATE SET v = c WHEN NOT MATCHED BY SOURCE THEN DELETE WHEN NOT MATCHED BY TARGET THEN INSERT VALUES (-s.k, s.k, c) RETURNING merge_action(), target.id, target.v, s.c

MERGE INTO target USING events e ON e.id = target.id AND e.k > 3 WHEN NOT MATCHED BY SOURCE AND target.k = 2 THEN UPDATE SET t = 'gone' WHEN MATCHED THEN DO NOTHING RETURNING merge_action(), target.id, e.v

MERGE INTO visible USING (SELECT id, k, max(v) AS v FROM events WHERE k < 2 OR id % 2 = 1 GROUP BY id, k) s ON s.id = visible.id AND s.id % 2 = 0 WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED AND s.id < 400 AND s.id % 2 = 1 THEN INSERT (id, k, v) VALUES (s.id, s.k, s.v) RETURNING merge_action(), visible.*

WITH m AS (MERGE INTO target USING (SELECT id, k, v FROM events WHERE id < 2000) s ON s.id = target.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.k, s.v) RETURNING merge_action() AS what, target.id, target.v) SELECT m.what, e.k, count(*), sum(m.v), sum(e.v) FROM m JOIN events e USING (id) GROUP BY 1, 2

WITH m AS (MERGE INTO target USING (SELECT DISTINCT k FROM events) s ON s.k = target.id WHEN MATCHED THEN UPDATE SET v = -1 RETURNING target.*) SELECT count(*), (SELECT sum(v) FROM target) FROM m

INSERT INTO target SELECT 10000 + row_number() OVER (ORDER BY e.id, x.q), x.q, e.v, x.name FROM events e, JSON_TABLE(e.j, '$.items[*]' COLUMNS (q int PATH '$.q', name text PATH '$.name')) x RETURNING id, t
""",
    18: """
UPDATE target SET v = e.v + 1 FROM events e WHERE e.id = target.id AND e.k < 4 RETURNING OLD.v, NEW.v, e.k, OLD.t, NEW

UPDATE target SET v = v + (SELECT count(*) FROM events e WHERE e.k = target.k) RETURNING OLD.v - NEW.v AS change, id

DELETE FROM target USING events e WHERE e.id = target.id AND e.v > 9 RETURNING OLD.*, NEW.id, e.v

INSERT INTO target SELECT id, k, v, t FROM events WHERE id < 900 ON CONFLICT (id) DO UPDATE SET v = excluded.v + target.v RETURNING OLD.v, NEW.v, OLD IS NULL AS is_new, id

MERGE INTO target USING (SELECT id, k, v, t FROM events WHERE id < 2000) s ON s.id = target.id WHEN MATCHED AND s.k = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.k, s.v, s.t) RETURNING merge_action(), OLD.v, NEW.v, OLD.id, NEW.id

WITH u AS (UPDATE target SET v = v * 2 RETURNING OLD.v AS was, NEW.v AS now, k) SELECT u.k, sum(was), sum(now), count(e.id) FROM u JOIN events e ON e.id = u.was GROUP BY u.k

UPDATE target SET v = 1 RETURNING WITH (OLD AS o, NEW AS n) o.v, n.v, (SELECT name FROM kinds WHERE kinds.k = o.k)

UPDATE virtuals SET a = a + 1 WHERE twice > 90 RETURNING OLD.twice, NEW.twice, NEW.upper_t

DELETE FROM virtuals USING events e WHERE e.id = virtuals.twice RETURNING virtuals.*, e.v

INSERT INTO virtuals (id, a, t) SELECT id + 10000, twice, upper_t FROM virtuals WHERE part > 3 RETURNING *

DELETE FROM bookings WHERE valid && daterange('2024-03-01', '2024-04-01') AND price > (SELECT avg(price) FROM bookings) RETURNING id, OLD.valid
""",
    19: """
INSERT INTO target SELECT id, k, v, t FROM events WHERE id < 900 ON CONFLICT (id) DO SELECT FOR UPDATE WHERE target.k > 2 RETURNING OLD.v, NEW.v, id

WITH i AS (INSERT INTO target SELECT id, k, v, t FROM events WHERE id < 900 ON CONFLICT (id) DO SELECT RETURNING *) SELECT i.k, count(*), sum(e.v) FROM i JOIN events e USING (id) GROUP BY i.k

INSERT INTO target SELECT id, k, v, t FROM events WHERE id < 900 ON CONFLICT (id) DO SELECT RETURNING id, k, v, t
""",
}
SHOWN = {
    15: "SELECT * FROM target ORDER BY id",
    18: "SELECT * FROM virtuals ORDER BY id",
}


def statements(by_version: dict[int, str], major: int) -> list[str]:
    return [paragraph.strip() for version, text in by_version.items() if version <= major
            for paragraph in text.split("\n\n") if paragraph.strip()]  # fmt: skip


def of_version(by_version: dict, major: int) -> list:
    return [value for version, value in by_version.items() if version <= major]
