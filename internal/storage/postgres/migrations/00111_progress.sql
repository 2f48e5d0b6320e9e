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

-- Imports of statistics in progress. Everything that an import stores is in one transaction, which deletes its row here
-- last: without this row, the import was canceled.
create table stats_imports_running (
    id           uuid primary key,
    workspace_id uuid not null,
    site_id      uuid not null,
    source       text not null,
    done         bigint not null default 0,                      -- rows
    total        bigint not null default 0,
    started_at   timestamptz not null default clock_timestamp(),
    updated_at   timestamptz not null default clock_timestamp()
);

-- Exports can be canceled.
alter table workspace_exports drop constraint workspace_exports_status_check;
alter table workspace_exports add constraint workspace_exports_status_check
    check (status in ('pending', 'running', 'done', 'failed', 'expired', 'canceled')) not valid;

-- +goose Down
update workspace_exports set status = 'failed' where status = 'canceled';
alter table workspace_exports drop constraint workspace_exports_status_check;
alter table workspace_exports add constraint workspace_exports_status_check
    check (status in ('pending', 'running', 'done', 'failed', 'expired'));
drop table search_rebuild_progress, stats_imports_running;
