-- two string keys
SELECT country, device_type, count(*), avg(page_views)
FROM events GROUP BY country, device_type ORDER BY country, device_type;
