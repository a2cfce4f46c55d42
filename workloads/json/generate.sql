-- The documents and posts, written in DuckDB's SQL; $size is how many of each. Documents have the shape of JSONBench's: events
-- of a social network. Each value is a function of the row's number only.
CREATE VIEW documents AS
SELECT json_object(
    'did', 'did:plc:' || substr(md5(even(i, 1, 1 + $size // 9)::varchar), 1, 24),
    'time_us', 1732206349000167 + i * 1000 + even(i, 2, 1000),
    'kind', CASE WHEN even(i, 3, 50) = 0 THEN 'identity' WHEN even(i, 3, 50) = 1 THEN 'account' ELSE 'commit' END,
    'commit', CASE WHEN even(i, 3, 50) > 1 THEN json_object(
        'rev', substr(md5(i::varchar), 1, 13),
        'operation', ['create', 'create', 'create', 'create', 'create', 'create', 'create', 'create', 'delete', 'update'][1 + even(i, 4, 10)],
        'collection', 'app.bsky.' || ['feed.like', 'feed.like', 'feed.like', 'feed.post', 'feed.post', 'feed.repost', 'graph.follow',
            'graph.follow', 'graph.block', 'actor.profile'][1 + even(i, 5, 10)],
        'rkey', substr(md5((i + 1)::varchar), 1, 13),
        'cid', 'bafyrei' || md5((i + 2)::varchar) || substr(md5((i + 3)::varchar), 1, 20),
        'record', json_object('$type', 'record', 'text', repeat(md5(i::varchar) || ' ', even(i, 6, 6)), 'langs', ['en'],
            'createdAt', '2024-11-21T16:25:49.167Z')) END
    ) AS data
FROM range(1, $size + 1) AS numbers (i);

CREATE VIEW posts AS
SELECT
    i AS id,
    even(i, 11, 1000) AS shop,
    '{' || list_aggregate(list_transform(range(0, even(i, 12, 8)), lambda n: 'tag ' || floor(pow(uniform(i, 20 + n), 3) * 2000)::bigint), 'string_agg', ',')
        || '}' AS tags,
    '{' || list_aggregate(list_transform(range(0, 1 + even(i, 13, 10)), lambda n: even(i, 40 + n, 100)::varchar), 'string_agg', ',') || '}' AS scores
FROM range(1, $size + 1) AS numbers (i);
