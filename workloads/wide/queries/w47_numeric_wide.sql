-- numerics of many digits
SELECT currency, sum(big_total), max(balance), avg(exchange_rate)
FROM events GROUP BY currency ORDER BY currency;
