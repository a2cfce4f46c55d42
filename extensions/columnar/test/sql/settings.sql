-- What a start would refuse is refused when it is set; what changes plans is shown with them.
LOAD 'penumbra';
ALTER SYSTEM SET penumbra.memory = '1MB';
ALTER SYSTEM SET penumbra.disk_cache_directory = 'relative/path';
SET penumbra.mode = off;
SET penumbra.threads_per_query = 0;
EXPLAIN (SETTINGS, COSTS off) SELECT 1;
