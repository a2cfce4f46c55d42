-- many string groups
SELECT ip_address, count(*) AS n
FROM events GROUP BY ip_address ORDER BY n DESC, ip_address LIMIT 10;
