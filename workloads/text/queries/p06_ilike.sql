-- ILIKE of a url
SELECT count(*), sum(id) FROM visits WHERE url ILIKE '%UTM_SOURCE%';
