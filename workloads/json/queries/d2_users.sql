-- how many users made them
SELECT data -> 'commit' ->> 'collection' AS event, count(*), count(DISTINCT data ->> 'did')
FROM documents
WHERE data ->> 'kind' = 'commit' AND data -> 'commit' ->> 'operation' = 'create'
GROUP BY 1
ORDER BY 2 DESC, 1;
