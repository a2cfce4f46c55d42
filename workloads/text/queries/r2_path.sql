-- distinct hosts
SELECT count(DISTINCT substring(url FROM '//[^/]+')) FROM visits;
