-- search phrases with a word
SELECT search_phrase, count(*) AS n
FROM events WHERE search_phrase LIKE '%shoes%' GROUP BY search_phrase ORDER BY n DESC, search_phrase LIMIT 10;
