-- the three users who posted first
SELECT data ->> 'did' AS user_id, min(to_timestamp((data ->> 'time_us')::bigint / 1000000.0)) AS first_post
FROM documents
WHERE data ->> 'kind' = 'commit' AND data -> 'commit' ->> 'operation' = 'create'
    AND data -> 'commit' ->> 'collection' = 'app.bsky.feed.post'
GROUP BY 1
ORDER BY 2, 1
LIMIT 3;
