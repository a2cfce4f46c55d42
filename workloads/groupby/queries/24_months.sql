-- months of sites
SELECT date_trunc('month', taken_at) AS month, site, sum(cost) AS cost
FROM measures
GROUP BY 1, 2
ORDER BY cost DESC, month, site
LIMIT 20;
