-- +goose Up

-- Events of a whole workspace: also of accounts, which have no post. tx is the
-- transaction that wrote the event. Ids are given out before a transaction
-- commits, so a reader that goes by id alone steps over an event that commits
-- later; in the order (tx, id) everything before the oldest transaction that
-- still runs is complete (pg_snapshot_xmin). Older events get one constant:
-- they are all complete, and the table is not written anew.
alter table post_events
    alter column post_id drop not null,
    add column account_id uuid references accounts on delete cascade,
    add column tx xid8 not null default '0';
alter table post_events alter column tx set default pg_current_xact_id();
drop index post_events_workspace;
create index post_events_workspace on post_events (workspace_id, tx, id);
-- What webhooks are sent for; see DueEvents, which must name the same types.
create index post_events_outcomes on post_events (tx, id)
    where type in ('posted', 'failed', 'uncertain', 'late', 'needs_reconnect');

create type webhook_status as enum ('enabled', 'disabled');

create table webhook_endpoints (
    id              uuid primary key,
    workspace_id    uuid not null references workspaces on delete cascade,
    url             text not null check (url <> '' and length(url) <= 2000),
    description     text not null default '' check (length(description) <= 200),
    types           text[] not null default '{}',                 -- empty: all
    status          webhook_status not null default 'enabled',
    disabled_reason text not null default '',                     -- owner, gone or failing
    failing_since   timestamptz,                                  -- first failure since the last success
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now()
);
create index webhook_endpoints_workspace on webhook_endpoints (workspace_id);

-- The secrets that an endpoint's deliveries are signed with: the newest, and
-- those before it until they expire. Sealed (internal/secret), bound to this
-- row by its id.
create table webhook_secrets (
    id          uuid primary key,
    endpoint_id uuid not null references webhook_endpoints on delete cascade,
    secret      bytea not null,
    expires_at  timestamptz,                                      -- null: in force
    created_at  timestamptz not null default now()
);
create index webhook_secrets_endpoint on webhook_secrets (endpoint_id);

create type delivery_status as enum ('pending', 'delivered', 'dead');

-- The outbox: one row for every event and endpoint, written in the transaction
-- that moves the cursor. The row decides; the workflow webhook/<id> follows it.
create table webhook_deliveries (
    id              uuid primary key,
    endpoint_id     uuid not null references webhook_endpoints on delete cascade,
    event_id        bigint,                                       -- null: a test
    type            text not null,
    body            text not null,                                -- as it is signed and sent
    status          delivery_status not null default 'pending',
    attempts        int not null default 0,
    tries           int not null default 0,                       -- attempts since it was last asked for
    due_at          timestamptz not null default clock_timestamp(),
    told_at         timestamptz,                                  -- Temporal was last told of it
    workflow        boolean not null default false,               -- Temporal knows it
    response_status int,
    response_body   text not null default '' check (length(response_body) <= 1024),
    last_error      text not null default '',
    attempted_at    timestamptz,
    delivered_at    timestamptz,
    created_at      timestamptz not null default clock_timestamp(),
    unique (event_id, endpoint_id)
);
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_pending on webhook_deliveries (due_at) where status = 'pending';
create index webhook_deliveries_open on webhook_deliveries (endpoint_id, due_at) where status = 'pending';
create index webhook_deliveries_delivered on webhook_deliveries (delivered_at) where status = 'delivered';

-- How far events have become deliveries.
create table webhook_cursor (
    one      boolean primary key default true check (one),
    tx       xid8 not null,
    event_id bigint not null
);
insert into webhook_cursor (tx, event_id) select pg_current_xact_id(), coalesce(max(id), 0) from post_events;

-- +goose Down
drop table webhook_cursor, webhook_deliveries, webhook_secrets, webhook_endpoints;
drop type delivery_status, webhook_status;
delete from post_events where post_id is null;
drop index post_events_outcomes, post_events_workspace;
create index post_events_workspace on post_events (workspace_id, id);
alter table post_events drop column tx, drop column account_id, alter column post_id set not null;
