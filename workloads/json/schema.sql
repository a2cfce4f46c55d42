CREATE TABLE documents (data jsonb);
CREATE TABLE posts (id bigint NOT NULL, shop integer NOT NULL, tags text[], scores integer[]);
