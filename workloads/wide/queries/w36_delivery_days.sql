-- days from shipping to delivery
SELECT delivered_on - shipped_on AS days, count(*), avg(shipping_cost)
FROM events WHERE shipped_on IS NOT NULL GROUP BY 1 ORDER BY 1;
