-- +goose Up

-- Archives of everything that a workspace owns, which a workflow writes into the
-- object store. One at a time is under way for a workspace.
create table workspace_exports (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid references users on delete set null,
    status       text not null default 'waiting' check (status in ('waiting', 'writing', 'done', 'failed', 'expired')),
    progress     jsonb not null default '{}',
    bytes        bigint not null default 0,
    problem      text not null default '',
    requested_at timestamptz not null default clock_timestamp(),
    finished_at  timestamptz,
    expires_at   timestamptz                     -- when the archive is deleted
);
create unique index workspace_exports_under_way on workspace_exports (workspace_id) where status in ('waiting', 'writing');
create index workspace_exports_workspace on workspace_exports (workspace_id, requested_at desc);

-- +goose Down
drop table workspace_exports;
