-- combinations of three columns
SELECT DISTINCT device_type, status, is_mobile
FROM events ORDER BY 1, 2, 3;
