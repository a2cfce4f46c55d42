-- posts with two tags, by shop
SELECT shop, count(*)
FROM posts
WHERE tags @> ARRAY['tag 1', 'tag 2']
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 10;
