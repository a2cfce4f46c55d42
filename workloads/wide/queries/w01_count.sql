-- all rows
SELECT count(*)
FROM events;
