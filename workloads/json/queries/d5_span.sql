-- the three users with the longest time between posts
SELECT data ->> 'did' AS user_id, max((data ->> 'time_us')::bigint) - min((data ->> 'time_us')::bigint) AS span_us
FROM documents
WHERE data ->> 'kind' = 'commit' AND data -> 'commit' ->> 'operation' = 'create'
    AND data -> 'commit' ->> 'collection' = 'app.bsky.feed.post'
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 3;
