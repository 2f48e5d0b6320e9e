-- +goose Up
-- Workspaces own everything else. Members have a role in a workspace.
create table workspaces (
    id                    uuid primary key,
    name                  text not null check (name <> '' and length(name) <= 200),
    time_zone             text not null check (time_zone <> ''),  -- IANA name
    created_at            timestamptz not null default now(),
    authors_need_approval boolean not null default false,
    -- creator, credit line and copyright notice stay in image files
    keep_media_credit     boolean not null default false
);

create table users (
    id         uuid primary key,
    name       text not null check (name <> '' and length(name) <= 200),
    email      text unique check (email = lower(email)),         -- null for the local first admin
    created_at timestamptz not null default now()
);

create type member_role as enum ('owner', 'editor', 'author', 'viewer');

create table members (
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid not null references users on delete cascade,
    role         member_role not null,
    created_at   timestamptz not null default now(),
    joined_at    timestamptz,                                    -- null: invited, has not logged in yet
    primary key (workspace_id, user_id)
);
create index members_user on members (user_id);

-- API tokens are stored as SHA-256 hashes. A token is 256 random bits, so a slow
-- password hash adds nothing (NIST SP 800-63B, 5.1.2.2, on look-up secrets).
create table api_tokens (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid not null references users on delete cascade,
    name         text not null check (name <> '' and length(name) <= 200),
    hint         text not null,                                  -- first characters, to identify a token in lists
    hash         bytea not null unique check (length(hash) = 32),
    created_at   timestamptz not null default now(),
    last_used_at timestamptz,
    expires_at   timestamptz,
    revoked_at   timestamptz,
    -- '*' grants everything the role allows, also later additions
    scopes       text[] not null check (cardinality(scopes) > 0)
);
create index api_tokens_workspace on api_tokens (workspace_id, id) where revoked_at is null;

-- Browser sessions. Only the SHA-256 of the cookie is stored. A session ends
-- when its user leaves the workspace that it shows.
create table sessions (
    id           uuid primary key,                               -- the public id; the cookie cannot be derived from it
    hash         bytea not null unique check (length(hash) = 32),
    user_id      uuid not null references users on delete cascade,
    workspace_id uuid not null,
    created_at   timestamptz not null,
    last_used_at timestamptz not null,
    user_agent   text not null check (length(user_agent) <= 100), -- shortened, such as "Firefox on Linux"
    foreign key (workspace_id, user_id) references members on delete cascade
);
create index sessions_of on sessions (user_id, workspace_id);

-- OpenID identities of users. An e-mail address can be reassigned to someone
-- else; issuer and subject never are (OpenID Connect Core 1.0, 5.7).
create table identities (
    issuer     text not null,
    subject    text not null check (length(subject) between 1 and 255),
    user_id    uuid not null references users on delete cascade,
    created_at timestamptz not null default now(),
    primary key (issuer, subject),
    unique (user_id, issuer)
);

-- One-time links that log a user in without a provider.
create table login_links (
    user_id    uuid primary key references users on delete cascade, -- a new link replaces the previous one
    hash       bytea not null unique check (length(hash) = 32),
    expires_at timestamptz not null
);

-- Provider responses that were used, to reject replays.
create table login_answers (
    hash    bytea primary key check (length(hash) = 32),
    used_at timestamptz not null
);

-- The audit log. Rows are written in the transaction of the change they describe
-- and are never updated. They hold no address and reference only the workspace:
-- the other objects may have been deleted.
create table audit_log (
    id           bigint generated always as identity primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    at           timestamptz not null default clock_timestamp(),
    actor        text not null check (actor in ('user', 'operator', 'dateline')),
    user_id      uuid check ((user_id is not null) = (actor = 'user')),
    token_id     uuid,                                           -- null: not by an API token
    session_id   uuid,                                           -- null: not in a browser
    action       text not null check (action <> ''),             -- listed in internal/identity/audit
    object_type  text not null check (object_type <> ''),
    object_id    uuid not null,
    request_id   uuid,                                           -- X-Request-ID; null: not by a request
    data         jsonb not null default '{}'
);
create index audit_log_workspace on audit_log (workspace_id, id);
create index audit_log_user on audit_log (workspace_id, user_id, id);
create index audit_log_object on audit_log (workspace_id, object_id, id);

-- +goose StatementBegin
create function refuse_to_rewrite() returns trigger language plpgsql as $$
begin
    raise exception 'rows of % are never changed', tg_table_name;
end $$;
-- +goose StatementEnd
create trigger audit_log_is_not_rewritten before update on audit_log
    for each statement execute function refuse_to_rewrite();

-- Idempotency keys of POST requests, written in the transaction that creates the
-- resource. A repeated request returns the same response.
create table idempotency_keys (
    workspace_id uuid not null references workspaces on delete cascade,
    key          text not null check (length(key) between 1 and 255),
    request_hash bytea not null,
    resource_id  uuid not null,
    created_at   timestamptz not null default now(),
    primary key (workspace_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Settings of this installation, such as the id of the last known Temporal store.
create table settings (
    key        text primary key,
    value      text not null,
    updated_at timestamptz not null default now()
);

-- Workspace archives that a workflow writes to the object store, at most one at
-- a time for each workspace.
create table workspace_exports (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid references users on delete set null,
    status       text not null default 'pending' check (status in ('pending', 'running', 'done', 'failed', 'expired')),
    progress     jsonb not null default '{}',
    bytes        bigint not null default 0,
    error        text not null default '',
    requested_at timestamptz not null default clock_timestamp(),
    finished_at  timestamptz,
    expires_at   timestamptz                                     -- when the archive is deleted
);
create unique index workspace_exports_active on workspace_exports (workspace_id) where status in ('pending', 'running');
create index workspace_exports_workspace on workspace_exports (workspace_id, requested_at desc);

-- +goose Down
drop table workspace_exports, settings, idempotency_keys, audit_log, login_answers, login_links, identities, sessions,
  api_tokens, members, users, workspaces;
drop function refuse_to_rewrite;
drop type member_role;
