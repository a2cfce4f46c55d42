-- the ten tags that most posts have first
SELECT tags[1], count(*)
FROM posts
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 10;
