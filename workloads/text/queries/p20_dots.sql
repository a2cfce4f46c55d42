-- ~ of a referer
SELECT count(*), sum(id) FROM visits WHERE referer ~ 'site[0-9]{1,2}\.example/.+';
