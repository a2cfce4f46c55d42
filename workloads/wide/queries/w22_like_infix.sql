-- a word inside long text
SELECT count(*)
FROM events WHERE user_agent LIKE '%iPhone%' AND page_title NOT LIKE '%Cart%';
