CREATE TABLE visits (
    id bigint NOT NULL,
    url varchar NOT NULL,
    referer varchar,
    line varchar NOT NULL,
    name varchar NOT NULL,
    number_text varchar NOT NULL,
    day_text varchar NOT NULL,
    visited_at timestamp NOT NULL,
    amount decimal(12, 2) NOT NULL,
    size integer NOT NULL
);
