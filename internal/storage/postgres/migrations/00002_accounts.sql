-- +goose Up

create type account_status as enum ('connected', 'needs_reconnect', 'disconnected');

-- An account at a social network. token is sealed (internal/secret) and bound
-- to this row by its id.
create table accounts (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    network      text not null check (network <> ''),
    base_url     text not null,                                -- instance; '' for central networks
    remote_id    text not null,
    handle       text not null,
    name         text not null,
    status       account_status not null default 'connected',
    is_default   boolean not null default false,               -- used when a post names no account
    token        bytea not null,
    scopes       text[] not null default '{}',
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    unique (workspace_id, network, base_url, remote_id)
);

-- Dateline's own registration at a network or instance.
create table network_apps (
    network       text not null,
    base_url      text not null,
    redirect_uri  text not null,
    client_id     text not null,
    client_secret bytea not null,                              -- sealed
    created_at    timestamptz not null default now(),
    primary key (network, base_url, redirect_uri)
);

-- A person who is away at a network's consent page.
create table connect_attempts (
    state        bytea primary key,                            -- SHA-256 of the state parameter
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid not null references users on delete cascade,
    network      text not null,
    base_url     text not null,
    redirect_uri text not null,
    verifier     bytea not null,                               -- sealed PKCE verifier
    expires_at   timestamptz not null
);

-- +goose Down
drop table connect_attempts, network_apps, accounts;
drop type account_status;
