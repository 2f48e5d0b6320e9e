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

-- Where a member gets notifications about a workspace, and about which events.
create table notification_channels (
    id              uuid primary key,
    workspace_id    uuid not null,
    user_id         uuid not null,
    kind            text not null check (kind in ('email', 'slack', 'telegram', 'discord', 'ntfy', 'matrix', 'teams',
      'webhook', 'push')),
    name            text not null check (length(name) between 1 and 100),
    destination     bytea not null,                               -- sealed: URL, token, recipient and keys
    hint            text not null check (length(hint) <= 300),    -- what may be shown of it
    types           text[] not null check (cardinality(types) > 0),
    own_posts_only  boolean not null default false,
    digest          text not null default 'none' check (digest in ('none', 'hourly', 'daily', 'twice_daily')),
    quiet_from      int check (quiet_from between 0 and 1439),    -- minutes of the day
    quiet_to        int check (quiet_to between 0 and 1439),
    time_zone       text not null check (time_zone <> ''),        -- IANA name
    language        text not null check (language in ('en', 'vi')),
    status          webhook_status not null default 'enabled',
    disabled_reason text not null default '',                     -- owner, gone, failing or unsubscribed
    confirmed_at    timestamptz,                                  -- when the recipient of emails agreed
    failing_since   timestamptz,                                  -- first failure since the last success
    created_at      timestamptz not null default clock_timestamp(),
    updated_at      timestamptz not null default clock_timestamp(),
    foreign key (workspace_id, user_id) references members on delete cascade,
    check ((quiet_from is null) = (quiet_to is null))
);
create index notification_channels_member on notification_channels (workspace_id, user_id, created_at);

create type delivery_status as enum ('pending', 'delivered', 'dead');

-- The outbox, written in the transaction that advances the cursor: one row for each
-- event and webhook endpoint, and one for the events of a notification, see
-- notification_items. The row decides; the workflow webhook/<id> follows it.
create table webhook_deliveries (
    id              uuid primary key,
    endpoint_id     uuid references webhook_endpoints on delete cascade,
    channel_id      uuid references notification_channels on delete cascade,
    event_id        bigint,                                       -- null: a test or a notification
    type            text not null,
    -- exactly as sent; empty: a notification that still collects events
    body            text not null,
    status          delivery_status not null default 'pending',
    attempts        int not null default 0,
    retries         int not null default 0,                       -- attempts since the last redelivery request
    due_at          timestamptz not null default clock_timestamp(),
    signaled_at     timestamptz,                                  -- when Temporal was last signaled
    has_workflow    boolean not null default false,               -- its workflow exists
    response_status int,
    response_body   text not null default '' check (length(response_body) <= 1024),
    last_error      jsonb,                                        -- message.Message
    attempted_at    timestamptz,
    delivered_at    timestamptz,
    created_at      timestamptz not null default clock_timestamp(),
    unique (event_id, endpoint_id),
    check (num_nonnulls(endpoint_id, channel_id) = 1)
);
create index webhook_deliveries_channel on webhook_deliveries (channel_id, id) where channel_id is not null;
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_pending on webhook_deliveries (due_at) where status = 'pending';
create index webhook_deliveries_open on webhook_deliveries (coalesce(endpoint_id, channel_id), due_at)
  where status = 'pending';
create index webhook_deliveries_delivered on webhook_deliveries (delivered_at) where status = 'delivered';

-- The events of a notification. An item about an uncertain post also is a link by
-- which its recipient decides, once.
create table notification_items (
    id          bigint generated always as identity primary key,
    delivery_id uuid not null references webhook_deliveries on delete cascade,
    channel_id  uuid not null references notification_channels on delete cascade,
    event_id    bigint not null,
    used_at     timestamptz,                                      -- when its link was used
    created_at  timestamptz not null default clock_timestamp(),
    unique (channel_id, event_id)
);
create index notification_items_delivery on notification_items (delivery_id, id);

-- Engines that are down, which members were notified of.
create table system_alerts (
    name    text not null,
    subject text not null,
    source  text not null,                                        -- the process that noticed
    since   timestamptz not null default clock_timestamp(),
    primary key (name, subject)
);

-- The key pair by which push services of browsers recognize this installation
-- (RFC 8292). The private key is sealed.
create table push_keys (
    one         boolean primary key default true check (one),
    public_key  text not null,
    private_key bytea not null
);

-- The last event that was turned into deliveries.
create table webhook_cursor (
    one      boolean primary key default true check (one),
    tx       xid8 not null,
    event_id bigint not null
);
insert into webhook_cursor (tx, event_id) values (pg_current_xact_id(), 0);

-- +goose Down
drop table webhook_cursor, push_keys, system_alerts, notification_items, webhook_deliveries, notification_channels,
  webhook_secrets, webhook_endpoints;
drop type delivery_status, webhook_status;
