-- how many events of each kind
SELECT data -> 'commit' ->> 'collection' AS event, count(*) FROM documents GROUP BY 1 ORDER BY 2 DESC, 1;
