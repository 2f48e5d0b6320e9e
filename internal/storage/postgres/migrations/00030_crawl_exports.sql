-- +goose Up

-- Exports of crawled pages that a workspace has asked for. What became of one
-- is seen in the object store.
create table crawl_exports (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    domain       text not null,
    requested_at timestamptz not null default clock_timestamp()
);
create index crawl_exports_workspace on crawl_exports (workspace_id, domain);

-- +goose Down
drop table crawl_exports;
