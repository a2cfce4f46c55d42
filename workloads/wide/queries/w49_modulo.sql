-- a sample of sessions
SELECT count(*), sum(clicks), max(page_views)
FROM events WHERE session_id % 97 = 3;
