CREATE TABLE documents AS
SELECT data::JSON::VARIANT AS data FROM read_csv('$documents', columns = {'data': 'VARCHAR'}, header = true);
CREATE TABLE posts AS
SELECT id, shop, string_split(trim(tags, '{}'), ',')::VARCHAR[] AS tags, ('[' || trim(scores, '{}') || ']')::INTEGER[] AS scores
FROM read_csv('$posts', columns = {'id': 'BIGINT', 'shop': 'INTEGER', 'tags': 'VARCHAR', 'scores': 'VARCHAR'}, header = true);
