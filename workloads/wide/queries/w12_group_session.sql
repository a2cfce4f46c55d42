-- a group for nearly every row
SELECT session_id, count(*) AS n, max(page_views)
FROM events GROUP BY session_id ORDER BY n DESC, session_id LIMIT 20;
