-- different search phrases
SELECT count(DISTINCT search_phrase), count(DISTINCT brand)
FROM events;
