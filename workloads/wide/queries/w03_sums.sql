-- sums and averages over everything
SELECT sum(quantity), avg(unit_price), sum(total_amount), avg(response_ms), max(bytes_sent), min(event_time)
FROM events;
