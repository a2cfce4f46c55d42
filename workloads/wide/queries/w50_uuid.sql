-- a range of uuids
SELECT count(*), count(DISTINCT event_uuid)
FROM events WHERE event_uuid < '10000000-0000-0000-0000-000000000000';
