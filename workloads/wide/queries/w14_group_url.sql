-- the most frequent addresses
SELECT url, count(*) AS n
FROM events GROUP BY url ORDER BY n DESC, url LIMIT 10;
