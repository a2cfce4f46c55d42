-- The visits, written in DuckDB's SQL; $size is how many. Each value is a function of the row's number only.
CREATE VIEW visits AS
SELECT
    i AS id,
    ['http://', 'https://', 'https://'][1 + even(i, 1, 3)] || ['', 'www.', 'shop.', 'm.'][1 + even(i, 2, 4)] || 'host' || even(i, 3, 5000) ||
        ['.com', '.org', '.de', '.co.uk'][1 + even(i, 4, 4)] || '/' || ['cart', 'search', 'item', 'news', 'user'][1 + even(i, 5, 5)] || '/' ||
        even(i, 6, 1000000) || ['', '?q=' || even(i, 7, 10000), '?utm_source=mail&page=' || even(i, 8, 50), '.html'][1 + even(i, 9, 4)] AS url,
    CASE WHEN even(i, 10, 6) > 0 THEN ['http://', 'https://'][1 + even(i, 11, 2)] || ['', 'www.'][1 + even(i, 12, 2)] || 'site' ||
        floor(pow(uniform(i, 13), 4) * 20000)::bigint || '.example/' || ['', 'a/b', 'list?p=' || even(i, 14, 100)][1 + even(i, 15, 3)] END AS referer,
    '10.' || even(i, 16, 256) || '.' || even(i, 17, 256) || '.' || even(i, 18, 256) || ' [' || strftime(timestamp '2025-03-01' + to_seconds(i // 8), '%Y-%m-%d %H:%M:%S')
        || '] "' || ['GET', 'GET', 'GET', 'POST', 'PUT'][1 + even(i, 19, 5)] || ' /' || ['api/v1/orders', 'api/v2/users', 'static/app.js', 'index.html'][1 + even(i, 20, 4)]
        || '" ' || [200, 200, 200, 304, 404, 500][1 + even(i, 21, 6)] || ' ' || even(i, 22, 100000) || 'ms ' || ['INFO', 'INFO', 'WARN', 'ERROR: timeout after 30s'][1 + even(i, 23, 4)] AS line,
    ['Anna', 'BERT', 'carla', 'Dieter', 'émile'][1 + even(i, 24, 5)] || ' ' || ['Smith', 'Müller', 'O''Neil', 'de la Cruz'][1 + even(i, 25, 4)] || even(i, 26, 300) AS name,
    (even(i, 27, 100000) / 4)::varchar AS number_text,
    strftime(date '2020-01-01' + even(i, 28, 2000)::int, '%Y-%m-%d') AS day_text,
    timestamp '2025-03-01' + to_seconds(i // 8) AS visited_at,
    even(i, 29, 1000000) / 100 AS amount,
    even(i, 30, 5000) AS size
FROM range(1, $size + 1) AS numbers (i);
