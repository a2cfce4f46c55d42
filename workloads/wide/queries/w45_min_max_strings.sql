-- first and last names by segment
SELECT segment, min(customer_name), max(customer_name), min(sku)
FROM events WHERE segment IS NOT NULL GROUP BY segment ORDER BY segment;
