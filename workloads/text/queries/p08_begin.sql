-- ~ of a url
SELECT count(*), sum(id) FROM visits WHERE url ~ '^https://www';
