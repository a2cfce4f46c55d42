-- domains and lengths
SELECT upper(left(referrer_domain, 3)) AS start, count(*), max(length(user_agent)), avg(length(url))
FROM events WHERE referrer_domain IS NOT NULL GROUP BY 1 ORDER BY 1;
