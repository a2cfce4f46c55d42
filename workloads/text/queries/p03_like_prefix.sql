-- LIKE of a url
SELECT count(*), sum(id) FROM visits WHERE url LIKE 'https://www.host1%';
