-- two words in order
SELECT count(*), min(event_time)
FROM events WHERE note LIKE '%damaged%parcel%';
