-- when they post, repost and like
SELECT data -> 'commit' ->> 'collection' AS event, extract(hour FROM to_timestamp((data ->> 'time_us')::bigint / 1000000)) AS hour_of_day, count(*)
FROM documents
WHERE data ->> 'kind' = 'commit' AND data -> 'commit' ->> 'operation' = 'create'
    AND data -> 'commit' ->> 'collection' IN ('app.bsky.feed.post', 'app.bsky.feed.repost', 'app.bsky.feed.like')
GROUP BY 1, 2
ORDER BY 2, 1;
