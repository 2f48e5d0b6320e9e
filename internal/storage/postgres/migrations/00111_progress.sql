-- +goose Up
-- The last rebuild of the search index, if there was one. search_rebuild is the index that changes are written to
-- during it.
create table search_rebuild_progress (
    singleton   boolean primary key default true check (singleton),
    status      text not null check (status in ('pending', 'running', 'done', 'canceled')),
    done        bigint not null default 0,                       -- articles
    total       bigint not null default 0,
    started_at  timestamptz not null default clock_timestamp(),
    finished_at timestamptz
);

-- +goose Down
drop table search_rebuild_progress;
