-- a group for every row
SELECT count(*), max(n) FROM (SELECT event_id, count(*) AS n
FROM events GROUP BY event_id) AS grouped;
