CREATE TABLE held_out AS SELECT aid, bid, md5(aid::text) AS text FROM pgbench_accounts WHERE aid <= 5000;
CREATE INDEX ON held_out (text);
UPDATE held_out SET bid = bid + 1 WHERE aid % 5 = 0;
VACUUM ANALYZE held_out;
COPY (SELECT * FROM held_out) TO '/dev/null';
DROP TABLE held_out;
