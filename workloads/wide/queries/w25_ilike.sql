-- letter case ignored
SELECT count(*)
FROM events WHERE product_name ILIKE '%ULTRA%lamp%';
