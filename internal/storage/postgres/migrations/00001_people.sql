-- +goose Up

-- Who may do what. Everything a person owns belongs to a workspace.

create table workspaces (
    id         uuid primary key,
    name       text not null check (name <> '' and length(name) <= 200),
    time_zone  text not null check (time_zone <> ''),          -- IANA name
    created_at timestamptz not null default now()
);

create table users (
    id         uuid primary key,
    name       text not null check (name <> '' and length(name) <= 200),
    email      text unique check (email = lower(email)),       -- null for the local first admin
    created_at timestamptz not null default now()
);

create type member_role as enum ('owner', 'editor', 'author', 'viewer');

create table members (
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid not null references users on delete cascade,
    role         member_role not null,
    created_at   timestamptz not null default now(),
    primary key (workspace_id, user_id)
);

-- Only the SHA-256 of a token is kept: tokens are 256 random bits, so a slow
-- password hash would add nothing (NIST SP 800-63B, 5.1.2.2, on look-up secrets).
create table api_tokens (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid not null references users on delete cascade,
    name         text not null check (name <> '' and length(name) <= 200),
    hint         text not null,                                -- first characters, to tell tokens apart
    hash         bytea not null unique check (length(hash) = 32),
    created_at   timestamptz not null default now(),
    last_used_at timestamptz,
    expires_at   timestamptz,
    revoked_at   timestamptz
);

-- A POST that creates something is answered the same when it is repeated. The
-- key is written in the transaction that creates the resource.
create table idempotency_keys (
    workspace_id uuid not null references workspaces on delete cascade,
    key          text not null check (length(key) between 1 and 255),
    request_hash bytea not null,
    resource_id  uuid not null,
    created_at   timestamptz not null default now(),
    primary key (workspace_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Facts about this installation, such as which Temporal store it last saw.
create table settings (
    key        text primary key,
    value      text not null,
    updated_at timestamptz not null default now()
);

-- +goose Down
drop table settings, idempotency_keys, api_tokens, members, users, workspaces;
drop type member_role;
