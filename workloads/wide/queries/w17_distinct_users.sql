-- users in all
SELECT count(DISTINCT user_id)
FROM events;
