-- two string filters
SELECT count(*)
FROM events WHERE country = 'DE' AND device_type = 'tablet' AND browser <> 'Chrome';
