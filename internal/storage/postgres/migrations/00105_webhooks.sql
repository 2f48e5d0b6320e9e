-- +goose Up
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

-- Signing secrets of an endpoint: the current one, and previous ones until they
-- expire. Sealed (internal/identity/secret) and bound to the row by its id.
create table webhook_secrets (
    id          uuid primary key,
    endpoint_id uuid not null references webhook_endpoints on delete cascade,
    secret      bytea not null,
    expires_at  timestamptz,                                      -- null: current
    created_at  timestamptz not null default now()
);
create index webhook_secrets_endpoint on webhook_secrets (endpoint_id);

create type delivery_status as enum ('pending', 'delivered', 'dead');

-- The outbox: one row for each event and endpoint, written in the transaction
-- that advances the cursor. The row decides; the workflow webhook/<id> follows it.
create table webhook_deliveries (
    id              uuid primary key,
    endpoint_id     uuid not null references webhook_endpoints on delete cascade,
    event_id        bigint,                                       -- null: a test
    type            text not null,
    body            text not null,                                -- exactly as signed and sent
    status          delivery_status not null default 'pending',
    attempts        int not null default 0,
    retries         int not null default 0,                       -- attempts since the last redelivery request
    due_at          timestamptz not null default clock_timestamp(),
    signaled_at     timestamptz,                                  -- when Temporal was last signaled
    has_workflow    boolean not null default false,               -- its workflow exists
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

-- The last event that was turned into deliveries.
create table webhook_cursor (
    one      boolean primary key default true check (one),
    tx       xid8 not null,
    event_id bigint not null
);
insert into webhook_cursor (tx, event_id) values (pg_current_xact_id(), 0);

-- +goose Down
drop table webhook_cursor, webhook_deliveries, webhook_secrets, webhook_endpoints;
drop type delivery_status, webhook_status;
