-- +goose Up

-- Who publishes: a worker is seen here every few seconds, and another takes over
-- from one that is not (worker/roster.go). Rows of workers that are gone go too.
create table workers (
    identity        text primary key,                -- as Temporal knows it
    seen_at         timestamptz not null default clock_timestamp(),
    inherited_until timestamptz                      -- while another takes over what it held
);

-- +goose Down
drop table workers;
