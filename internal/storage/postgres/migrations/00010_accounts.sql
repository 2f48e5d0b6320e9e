-- +goose Up

-- What is known of an account's tokens besides the tokens. Since this
-- migration, token seals a JSON document (internal/account); older ones hold the
-- bare access token and are read as before. An account that is disconnected has
-- an empty one.
alter table accounts
    add column kind               text not null default '',
    add column app                text not null default '',       -- redirect_uri of the registration that the tokens were given to; '': none
    add column connected_by       uuid references users on delete set null,
    add column settings           jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
    add column token_version      bigint not null default 1,      -- every new token; sealing the same one anew is none
    add column renewable          boolean not null default false, -- a refresh token is sealed along
    add column expires_at         timestamptz,                    -- of the access token; null: not known to
    add column refresh_expires_at timestamptz,                    -- from when nothing but connecting anew helps
    add column refresh_rolls      boolean not null default false, -- a renewal has moved refresh_expires_at
    add column last_refresh_at    timestamptz,
    add column refresh_due_at     timestamptz,                    -- when the token is to be renewed ahead of its end
    add column refresh_failures   int not null default 0,
    add column lease_owner        uuid,                           -- of the one renewal that is under way
    add column lease_until        timestamptz,
    add column checked_at         timestamptz,                    -- when the network last said that all is well
    add column error_class        text,                           -- what it said since, if anything; without secrets
    add column error_code         text,
    add column error_message      text,
    add column error_at           timestamptz,
    add column warned_for         timestamptz,                    -- the end of access that was last warned of
    add column warned_days        int;                            -- and how many days ahead
create index accounts_refresh_due on accounts (refresh_due_at) where status = 'connected' and refresh_due_at is not null;

-- A connection of an account that is there already: another one is refused.
alter table connect_attempts
    add column account_id uuid references accounts on delete cascade;

-- A login that may post as several accounts, until somebody has chosen.
create table account_choices (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid not null references users on delete cascade,
    network      text not null,
    app          text not null,
    key          bytea not null,                                  -- SHA-256 of what the page of the choice proves itself with
    accounts     bytea not null,                                  -- sealed JSON: the accounts with their tokens
    expires_at   timestamptz not null
);

-- Webhooks tell of accounts whose access ends; see DueEvents.
drop index post_events_outcomes;
create index post_events_outcomes on post_events (tx, id)
    where type in ('posted', 'failed', 'uncertain', 'late', 'needs_reconnect', 'expiring');

-- +goose Down
drop index post_events_outcomes;
create index post_events_outcomes on post_events (tx, id)
    where type in ('posted', 'failed', 'uncertain', 'late', 'needs_reconnect');
drop table account_choices;
alter table connect_attempts drop column account_id;
drop index accounts_refresh_due;
alter table accounts
    drop column warned_days, drop column warned_for,
    drop column error_at, drop column error_message, drop column error_code, drop column error_class, drop column checked_at,
    drop column lease_until, drop column lease_owner,
    drop column refresh_failures, drop column refresh_due_at, drop column last_refresh_at,
    drop column refresh_rolls, drop column refresh_expires_at, drop column expires_at, drop column renewable, drop column token_version,
    drop column settings, drop column connected_by, drop column app, drop column kind;
