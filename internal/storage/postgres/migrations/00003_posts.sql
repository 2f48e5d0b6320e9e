-- +goose Up

create table media (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid not null references users,
    object_key   text not null,                                -- content-addressed, in the S3 bucket
    sha256       bytea not null check (length(sha256) = 32),
    mime_type    text not null,                                -- sniffed, not believed
    bytes        bigint not null check (bytes > 0),
    width        int not null default 0 check (width >= 0),
    height       int not null default 0 check (height >= 0),
    file_name    text not null default '',
    alt_text     text not null default '',
    created_at   timestamptz not null default now()
);
create index media_workspace on media (workspace_id, created_at desc);

create type post_status as enum
    ('draft', 'scheduled', 'publishing', 'posted', 'partly_posted', 'failed', 'cancelled');

-- The row decides: every change of state is one guarded statement on it
-- (docs/architecture.md draws the states).
create table scheduled_posts (
    post_id            uuid primary key,
    workspace_id       uuid not null references workspaces on delete cascade,
    user_id            uuid not null references users,
    content            text not null,
    scheduled_time     timestamptz not null,
    time_zone          text not null,                          -- IANA, as the author meant it
    status             post_status not null default 'scheduled',
    retry_count        int not null default 0 check (retry_count >= 0),
    attachment_ids     uuid[] not null default '{}',           -- media rows, in order
    attachment_urls    text[] not null default '{}',           -- where their bytes lie: s3://bucket/key
    platform_media_ids jsonb not null default '{}',            -- account id → staged handles
    thread_id          uuid,                                   -- first post of the thread this one belongs to
    thread_parent_id   uuid references scheduled_posts,        -- the post that this one answers
    language           text not null default '',
    version            bigint not null default 1,              -- every change; the API's ETag
    revision           bigint not null default 1,              -- every change of what or when; claims name it
    workflow_revision  bigint,                                 -- newest revision the workflow has seen
    posted_at          timestamptz,
    created_at         timestamptz not null default now(),
    updated_at         timestamptz not null default now(),
    check (content <> '' or cardinality(attachment_ids) > 0),
    check (cardinality(attachment_ids) = cardinality(attachment_urls)),
    check (thread_parent_id is null or thread_id is not null)
);
create index scheduled_posts_due on scheduled_posts (scheduled_time) where status = 'scheduled';
create index scheduled_posts_open on scheduled_posts (updated_at) where status in ('scheduled', 'publishing');
create index scheduled_posts_page on scheduled_posts (workspace_id, scheduled_time, post_id);
create index scheduled_posts_thread on scheduled_posts (thread_id) where thread_id is not null;

create type target_status as enum
    ('scheduled', 'publishing', 'posted', 'failed', 'uncertain', 'cancelled');

-- One account that a post goes to.
create table post_targets (
    id            uuid primary key,
    post_id       uuid not null references scheduled_posts on delete cascade,
    account_id    uuid not null references accounts,
    status        target_status not null default 'scheduled',
    attempts      int not null default 0,                      -- sends that used up a try
    fence         bigint not null default 0,                   -- grows with every claim
    claimed_until timestamptz,                                 -- nobody else may claim before
    remote_id     text,
    remote_url    text,
    error_class   text,
    error_code    text,
    error_message text,
    sent_at       timestamptz,                                 -- when the final call left
    posted_at     timestamptz,                                 -- when its answer was in
    updated_at    timestamptz not null default now(),
    unique (post_id, account_id),
    check (status <> 'posted' or remote_id is not null)
);
create index post_targets_account on post_targets (account_id, status);
create unique index post_targets_remote on post_targets (account_id, remote_id) where remote_id is not null;

create type operation_state as enum
    ('prepared', 'sending', 'accepted', 'definite_failure', 'ambiguous',
     'reconciled_ok', 'reconciled_absent', 'manual');

-- The ledger: a row is written before every call that cannot be taken back.
create table operations (
    id              uuid primary key,
    target_id       uuid not null references post_targets on delete cascade,
    segment         int not null default 0,
    revision        bigint not null,                           -- of the post
    epoch           int not null default 1,                    -- grows when the call is made anew
    fence           bigint not null,                           -- the claim it was made under
    idempotency_key text not null,
    fingerprint     bytea not null check (length(fingerprint) = 32),
    prepared        jsonb not null default '{}',
    state           operation_state not null,
    sent_at         timestamptz,
    finished_at     timestamptz,
    remote_id       text,
    evidence        jsonb not null default '{}',
    created_at      timestamptz not null default now(),
    unique (target_id, segment, revision, epoch)
);
create index operations_open on operations (target_id) where state in ('prepared', 'sending', 'ambiguous');

-- What happened, in order, for the timeline and the live streams.
create table post_events (
    id           bigint generated always as identity primary key,
    post_id      uuid not null references scheduled_posts on delete cascade,
    workspace_id uuid not null references workspaces on delete cascade,
    target_id    uuid references post_targets on delete cascade,
    type         text not null,
    actor        text not null,                                -- user:<id>, operator, dateline
    data         jsonb not null default '{}',
    at           timestamptz not null default clock_timestamp()
);
create index post_events_post on post_events (post_id, id);
create index post_events_workspace on post_events (workspace_id, id);

-- +goose Down
drop table post_events, operations, post_targets, scheduled_posts, media;
drop type operation_state, target_status, post_status;
