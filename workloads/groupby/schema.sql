CREATE TABLE measures (
    id bigint NOT NULL,
    site varchar NOT NULL,
    sensor varchar NOT NULL,
    batch varchar NOT NULL,
    line integer NOT NULL,
    shift integer NOT NULL,
    part integer NOT NULL,
    serial bigint NOT NULL,
    grade integer NOT NULL,
    faults integer,
    weight double precision NOT NULL,
    cost decimal(12, 2) NOT NULL,
    taken_at timestamp NOT NULL
);
