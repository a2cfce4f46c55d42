-- NOT LIKE of a line
SELECT count(*), sum(id) FROM visits WHERE line NOT LIKE '%INFO%';
