-- the latest measure of each part
SELECT count(*), sum(id), sum(cost)
FROM (SELECT DISTINCT ON (part) part, id, cost FROM measures ORDER BY part, taken_at DESC, id DESC) AS s;
