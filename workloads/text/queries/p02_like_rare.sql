-- LIKE of a url
SELECT count(*), sum(id) FROM visits WHERE url LIKE '%/777777%';
