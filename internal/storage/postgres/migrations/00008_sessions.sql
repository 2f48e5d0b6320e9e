-- +goose Up

-- Who is logged in with a browser. Only the SHA-256 of the cookie is kept: it is
-- 256 random bits, like an API token. A session ends with the membership of the
-- workspace that it looks at.
create table sessions (
    id           uuid primary key,                             -- names it in lists; the cookie does not follow from it
    hash         bytea not null unique check (length(hash) = 32),
    user_id      uuid not null references users on delete cascade,
    workspace_id uuid not null,
    created_at   timestamptz not null,
    last_used_at timestamptz not null,
    user_agent   text not null check (length(user_agent) <= 100), -- shortened, such as "Firefox on Linux"
    foreign key (workspace_id, user_id) references members on delete cascade
);
create index sessions_of on sessions (user_id, workspace_id);

-- Under which names the OpenID providers know our users. An e-mail address can
-- pass to somebody else; issuer and subject never do (OpenID Connect Core 1.0, 5.7).
create table identities (
    issuer     text not null,
    subject    text not null check (length(subject) between 1 and 255),
    user_id    uuid not null references users on delete cascade,
    created_at timestamptz not null default now(),
    primary key (issuer, subject),
    unique (user_id, issuer)
);

-- Links that log a user in without a provider. Each is deleted by its use.
create table login_links (
    user_id    uuid primary key references users on delete cascade, -- a new one replaces the one before
    hash       bytea not null unique check (length(hash) = 32),
    expires_at timestamptz not null
);

-- Answers of a provider that were used, so that none is taken twice.
create table login_answers (
    hash    bytea primary key check (length(hash) = 32),
    used_at timestamptz not null
);

-- +goose Down
drop table login_answers, login_links, identities, sessions;
