-- Dates and timestamps compared with values of each other's types: the index's answer is the heap's, in any time zone.
CREATE EXTENSION penumbra_keytree;
CREATE TABLE points (p timestamptz);
SET timezone = 'UTC';
-- Around changes of the clock (New York), the day that Samoa left out, the one that Alaska had twice; and everywhere.
INSERT INTO points SELECT day + i * interval '30 minutes'
FROM unnest('{2021-03-14 07:00,2021-11-07 06:00,2011-12-30 10:00,1867-10-18 12:00,1970-01-01 00:00}'::timestamptz[]) day,
    generate_series(-100, 100) i;
INSERT INTO points SELECT timestamptz '1995-01-01' + i * interval '97 hours 13 minutes' FROM generate_series(1, 500) i;
CREATE TABLE d AS SELECT DISTINCT p::date AS v FROM points;
CREATE TABLE ts AS SELECT p::timestamp AS v FROM points UNION ALL SELECT date_trunc('day', p)::timestamp FROM points;
CREATE TABLE tz AS SELECT p AS v FROM points UNION ALL SELECT date_trunc('day', p) FROM points;
INSERT INTO d SELECT unnest('{-infinity,infinity,NULL,4714-11-24 BC,294276-12-31,294277-01-01,5874897-12-31}'::date[]);
INSERT INTO ts SELECT unnest('{-infinity,infinity,NULL,4714-11-24 BC,294276-12-31 23:59:59.999999}'::timestamp[]);
INSERT INTO tz SELECT unnest('{-infinity,infinity,NULL,4714-11-24 00:00+00 BC,294276-12-31 23:59:59.999999}'::timestamptz[]);
CREATE INDEX d_v ON d USING keytree (v);
CREATE INDEX ts_v ON ts USING keytree (v);
CREATE INDEX tz_v ON tz USING keytree (v);
VACUUM ANALYZE d, ts, tz;

CREATE FUNCTION answer(query text, scan text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    PERFORM set_config('enable_' || kind, (kind = scan)::text, true)
    FROM unnest('{seqscan,indexscan,indexonlyscan,bitmapscan}'::text[]) kind;
    EXECUTE query INTO answer;
    RETURN answer;
END $$;
-- Some values of one table with each operator on the other side of each table's, one by one and as arrays; wrong answers only.
CREATE FUNCTION differences(zone text) RETURNS TABLE (query text, scan text, from_index text, from_heap text) LANGUAGE plpgsql AS $$
DECLARE
    one text;
    other text;
    operator text;
    form text;
    sample constant text := $sample$ (SELECT DISTINCT v FROM %2$s WHERE hashtext(v::text) %% 100 = 7 OR NOT isfinite(v)
        OR v > '294270-01-01' OR v BETWEEN '2021-11-07 00:00' AND '2021-11-07 02:00') x $sample$;
BEGIN
    PERFORM set_config('timezone', zone, true);
    FOR one, other, operator, form IN
        SELECT * FROM unnest('{d,ts,tz}'::text[]) a, unnest('{d,ts,tz}'::text[]) b, unnest('{<,<=,=,>=,>}'::text[]) c, unnest(ARRAY[
            'SELECT string_agg(n::text, '' '' ORDER BY v) FROM (SELECT x.v, (SELECT count(*) FROM %1$s WHERE v %3$s x.v) AS n FROM' || sample || ') y',
            'SELECT count(*) || md5(string_agg(v::text, '' '' ORDER BY v)) FROM %1$s WHERE v %3$s ANY (ARRAY(SELECT x.v FROM' || sample || '))'
                || ' AND v > ''1970-01-01''']) e
    LOOP
        query := format(form, one, other, operator);
        from_heap := answer(query, 'seqscan');
        FOREACH scan IN ARRAY '{indexscan,indexonlyscan,bitmapscan}'::text[] LOOP
            from_index := answer(query, scan);
            IF from_index IS DISTINCT FROM from_heap THEN
                RETURN NEXT;
            END IF;
        END LOOP;
    END LOOP;
END $$;
SELECT zone, (SELECT count(*) FROM differences(zone)) AS differences
FROM unnest('{UTC,America/New_York,Pacific/Apia,Asia/Manila,<A>-100<B>,<C>120}'::text[]) zone;
-- Comparisons with the present, and joins, use the index.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET timezone = 'America/New_York';
EXPLAIN (COSTS OFF) SELECT * FROM ts WHERE v >= current_date - 7 AND v < now();
EXPLAIN (COSTS OFF) SELECT * FROM d, tz WHERE tz.v = d.v AND d.v BETWEEN date '2021-03-01' AND timestamp '2021-03-02 12:00';
SELECT count(*) FROM ts WHERE v = timestamptz '2021-11-07 06:30+00';
SET client_min_messages = warning;
DROP EXTENSION penumbra_keytree CASCADE;
DROP TABLE d, ts, tz, points;
DROP FUNCTION answer, differences;
