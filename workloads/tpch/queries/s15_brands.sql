-- Q16 without its join: parts by brand, type and size, the twenty most frequent
SELECT p_brand, p_type, p_size, count(*) AS parts
FROM part
WHERE p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%' AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
GROUP BY p_brand, p_type, p_size ORDER BY parts DESC, p_brand, p_type, p_size LIMIT 20;
