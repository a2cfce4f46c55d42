-- visits by the domain that they come from
SELECT regexp_replace(referer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') AS domain, count(*), avg(length(referer))
FROM visits
WHERE referer <> ''
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 25;
