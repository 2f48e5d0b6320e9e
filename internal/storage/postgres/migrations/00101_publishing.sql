-- +goose Up
create type account_status as enum ('connected', 'needs_reconnect', 'disconnected');

-- Accounts at social networks. token is a sealed JSON document (internal/identity/secret)
-- bound to the row by its id; it is empty when the account is disconnected.
create table accounts (
    id                 uuid primary key,
    workspace_id       uuid not null references workspaces on delete cascade,
    network            text not null check (network <> ''),
    base_url           text not null,                              -- instance; '' for central networks
    remote_id          text not null,
    handle             text not null,
    name               text not null,
    avatar_url         text not null default '',                   -- of its picture at the network; '': none known
    -- chosen by people, in the place of name; '': none
    label              text not null default '' check (length(label) <= 80),
    color              text not null default '',                  -- likewise
    status             account_status not null default 'connected',
    is_default         boolean not null default false,             -- used when a post names no account
    token              bytea not null,
    scopes             text[] not null default '{}',
    created_at         timestamptz not null default now(),
    updated_at         timestamptz not null default now(),
    kind               text not null default '',
    -- redirect_uri of the app registration that the token was issued to; '': none
    app                text not null default '',
    connected_by       uuid references users on delete set null,
    settings           jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
    -- UTM parameters of tracked links
    utm                jsonb not null default '{}' check (jsonb_typeof(utm) = 'object'),
    token_version      bigint not null default 1,                  -- incremented by every new token, not by resealing
    renewable          boolean not null default false,             -- has a refresh token
    expires_at         timestamptz,                                -- of the access token; null: unknown
    refresh_expires_at timestamptz,                                -- after this only reconnecting helps
    refresh_rolls      boolean not null default false,             -- a refresh has extended refresh_expires_at
    last_refresh_at    timestamptz,
    refresh_due_at     timestamptz,                                -- when to refresh ahead of expiry
    refresh_failures   int not null default 0,
    lease_owner        uuid,                                       -- lease of the one refresh in progress
    lease_until        timestamptz,
    checked_at         timestamptz,                                -- last successful check at the network
    error_class        text,                                       -- last error since then, without secrets
    error_code         text,
    error_message      text,
    error_at           timestamptz,
    warned_for         timestamptz,                                -- the expiry that was last warned about
    warned_days        int,                                        -- days ahead of it
    unique (workspace_id, network, base_url, remote_id)
);
-- Pictures of accounts: small copies, because networks' addresses of them expire.
create table account_avatars (
    account_id uuid primary key references accounts on delete cascade,
    url        text not null,                                      -- that it was fetched from
    image      bytea not null,                                     -- JPEG; empty: it could not be fetched
    fetched_at timestamptz not null default clock_timestamp()
);

create index accounts_refresh_due on accounts (refresh_due_at) where status = 'connected'
  and refresh_due_at is not null;

-- Accounts that publish together. The slots are the group's queue: times of the
-- week, on the wall clock of time_zone, at which it publishes one post each.
create table account_groups (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    name         text not null check (name <> ''),
    color        text not null,
    account_ids  uuid[] not null check (cardinality(account_ids) > 0),
    time_zone    text not null check (time_zone <> ''),            -- IANA name
    -- [{"weekday": 1 (Monday) to 7, "time": "07:30"}]
    slots        jsonb not null default '[]' check (jsonb_typeof(slots) = 'array'),
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    constraint account_groups_name unique (workspace_id, name)
);

-- Labels and campaigns, by which people sort posts. A post has any number of
-- labels and at most one campaign; both are in its label_ids.
create table labels (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    kind         text not null check (kind in ('label', 'campaign')),
    name         text not null check (name <> ''),
    color        text not null,
    utm          jsonb not null default '{}' check (jsonb_typeof(utm) = 'object'), -- of a campaign's tracked links
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now()
);
create unique index labels_name on labels (workspace_id, kind, lower(name));

-- Texts that people insert into posts. Posts keep a copy.
create table snippets (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    kind         text not null check (kind in ('text', 'hashtags', 'template')),
    name         text not null check (name <> ''),
    text         text not null check (text <> ''),
    -- of a template: its thread, options, overrides and accounts, as in the API
    template     jsonb check (jsonb_typeof(template) = 'object'),
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now()
);
create unique index snippets_name on snippets (workspace_id, kind, lower(name));

-- Dateline's app registrations at networks and instances.
create table network_apps (
    network       text not null,
    base_url      text not null,
    redirect_uri  text not null,
    client_id     text not null,
    client_secret bytea not null,                                  -- sealed
    created_at    timestamptz not null default now(),
    primary key (network, base_url, redirect_uri)
);

-- OAuth authorizations in progress.
create table connect_attempts (
    state        bytea primary key,                                -- SHA-256 of the state parameter
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid not null references users on delete cascade,
    network      text not null,
    base_url     text not null,
    redirect_uri text not null,
    verifier     bytea not null,                                   -- sealed PKCE verifier
    expires_at   timestamptz not null,
    account_id   uuid references accounts on delete cascade,       -- the account to reconnect; any other is refused
    -- the browser session that must complete it; null: started with an API token
    session_id   uuid references sessions on delete cascade
);

-- Logins that can post as several accounts, until the user has chosen.
create table account_choices (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid not null references users on delete cascade,
    network      text not null,
    app          text not null,
    -- SHA-256 of the secret that the choice page presents
    key          bytea not null,
    accounts     bytea not null,                                   -- sealed JSON: the accounts with their tokens
    expires_at   timestamptz not null
);

-- Objects in the S3 bucket, addressed by the hash of their content. A row exists
-- before its object and outlives it, so no object is without a row. A writer
-- of an object claims the row first; a deleter holds the row lock;
-- media can only reference existing rows. An upload and a deletion of the same
-- bytes therefore cannot miss each other.
create table media_objects (
    object_key    text primary key,
    claimed_until timestamptz not null                             -- an upload is in progress until then
);

create table media (
    id               uuid primary key,
    workspace_id     uuid not null references workspaces on delete cascade,
    user_id          uuid not null references users,
    object_key       text not null,
    sha256           bytea not null check (length(sha256) = 32),
    mime_type        text not null,                                -- sniffed from the content
    bytes            bigint not null check (bytes > 0),
    width            int not null default 0 check (width >= 0),
    height           int not null default 0 check (height >= 0),
    file_name        text not null default '',
    alt_text         text not null default '',
    created_at       timestamptz not null default now(),
    frames           int not null default 1 check (frames >= 0),   -- of an animation; 0 for a video
    duration_ms      bigint not null default 0 check (duration_ms >= 0),
    frame_rate       float8 not null default 0 check (frame_rate >= 0),
    bit_rate         bigint not null default 0 check (bit_rate >= 0),
    video_codec      text not null default '',
    audio_codec      text not null default '',
    -- degrees clockwise applied by players; width and height are as displayed
    rotation         int not null default 0,
    orientation      int not null default 1 check (orientation between 1 and 8), -- EXIF
    kind             text not null default 'image' check (kind in ('image', 'animation', 'video')),
    -- file name and description, folded by internal/publishing/media
    search_text      text not null default '',
    deleted_at       timestamptz,
    released_at      timestamptz,                                  -- no scheduled post needs the object any more
    held_key         text generated always as (case when released_at is null then object_key end) stored,
    metadata_removed text[] not null default '{}',                 -- metadata that was removed when the file was stored
    constraint media_held foreign key (held_key) references media_objects (object_key),
    constraint media_released check (released_at is null or deleted_at is not null)
);
create index media_held_key on media (held_key) where held_key is not null;
create index media_workspace on media (workspace_id, created_at desc, id desc) where deleted_at is null;
create index media_deleted on media (deleted_at) where deleted_at is not null and released_at is null;
create index media_age on media (created_at) where deleted_at is null;

-- Images converted to fit a network.
create table media_renditions (
    source_key text not null references media_objects (object_key) on delete cascade,
    spec       text not null,                                      -- the requested conversion
    object_key text not null references media_objects (object_key),
    sha256     bytea not null check (length(sha256) = 32),
    mime_type  text not null,
    bytes      bigint not null check (bytes > 0),
    width      int not null check (width > 0),
    height     int not null check (height > 0),
    used_at    timestamptz not null default now(),
    primary key (source_key, spec)
);
create index media_renditions_object on media_renditions (object_key);

-- Direct uploads to the bucket, until they are completed.
create table media_uploads (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid not null references users,
    file_name    text not null,
    alt_text     text not null,
    bytes        bigint not null check (bytes > 0),
    sha256       bytea check (length(sha256) = 32),                -- announced by the client
    object_key   text not null,                                    -- where the bytes arrive
    parts_id     text,                                             -- S3 multipart upload id
    part_bytes   bigint check (part_bytes > 0),
    taken_until  timestamptz,                                      -- lease of the completion in progress
    media_id     uuid references media on delete cascade,          -- the resulting file
    created_at   timestamptz not null default now(),
    check ((parts_id is null) = (part_bytes is null))
);
create index media_uploads_age on media_uploads (created_at);

create type series_status as enum ('active', 'paused', 'ended');

-- Recurring posts. An occurrence is a post of its own, named by its local time
-- in the series' time zone, such as 2026-12-24T18:00:00.
create table series (
    id                uuid primary key,
    workspace_id      uuid not null references workspaces on delete cascade,
    user_id           uuid not null references users,
    -- RFC 5545, the subset of internal/publishing/recurrence
    rule              text not null check (rule <> ''),
    starts            text not null check (starts <> ''),          -- DTSTART, local time
    time_zone         text not null check (time_zone <> ''),       -- IANA name
    template          jsonb not null check (jsonb_typeof(template) = 'object'),
    status            series_status not null default 'active',
    template_revision bigint not null default 1,                   -- incremented by every change of content or time
    -- occurrences up to here are posts, skipped or recorded as missed
    checked_until      timestamptz not null default now(),
    last_error      jsonb, -- message.Messages
    last_error_at   timestamptz,
    version           bigint not null default 1,                   -- incremented by every user change; the API's ETag
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now(),
    by_author         boolean not null default false               -- belongs to an author: its posts need approval
);
create index series_workspace on series (workspace_id, created_at desc, id desc);
create index series_open on series (id) where status <> 'ended';

create type series_exception_kind as enum ('skipped', 'missed');

-- Occurrences without a post, and the reason.
create table series_exceptions (
    series_id  uuid not null references series on delete cascade,
    occurrence text not null,
    kind       series_exception_kind not null,
    reason     jsonb not null default '[]', -- message.Messages
    at         timestamptz not null default now(),
    primary key (series_id, occurrence)
);

-- Text without case and accents, as media.Fold has it; 'đ' has no decomposition.
create function fold_text(text) returns text language sql immutable strict parallel safe
    as $$ select lower(translate(regexp_replace(normalize($1, NFKD), '[\u0300-\u036f]', '', 'g'), 'Đđ', 'dd')) $$;

create type post_status as enum
    ('draft', 'scheduled', 'publishing', 'posted', 'partly_posted', 'failed', 'canceled');
create type approval_state as enum ('none', 'pending', 'approved', 'rejected');

-- Posts. The row decides: every state change is one guarded statement on it
-- (docs/reference/post-states.md shows the states).
create table scheduled_posts (
    post_id                  uuid primary key,
    workspace_id             uuid not null references workspaces on delete cascade,
    user_id                  uuid not null references users,
    content                  text not null,
    scheduled_time           timestamptz,
    time_zone                text not null,                        -- IANA name that the author used
    status                   post_status not null default 'scheduled',
    retry_count              int not null default 0 check (retry_count >= 0),
    attachment_ids           uuid[] not null default '{}',         -- media ids, in order
    attachment_urls          text[] not null default '{}',         -- where their bytes are: s3://bucket/key
    platform_media_ids       jsonb not null default '{}',          -- account id → staged handles
    thread_id                uuid,                                 -- first post of the reply chain
    thread_parent_id         uuid references scheduled_posts,      -- the post that this one replies to
    language                 text not null default '',
    version                  bigint not null default 1,            -- incremented by every change; the API's ETag
    -- incremented by every change of content or time; claims name it
    revision                 bigint not null default 1,
    workflow_revision        bigint,                               -- newest revision that the workflow has seen
    posted_at                timestamptz,
    created_at               timestamptz not null default now(),
    updated_at               timestamptz not null default now(),
    -- segments after the first: [{"content", "attachment_ids"}]
    thread                   jsonb not null default '[]' check (jsonb_typeof(thread) = 'array'),
    -- what is asked of networks besides, by network
    options                  jsonb not null default '{}' check (jsonb_typeof(options) = 'object'),
    late_limit_minutes       int check (late_limit_minutes > 0),   -- discarded when later than this
    redriven_at              timestamptz,                          -- a user retried it; lateness counts from here
    late_noted_at            timestamptz,                          -- when the timeline recorded that it is late
    listed_at                timestamptz not null generated always as (coalesce(scheduled_time, created_at)) stored,
    series_id                uuid references series on delete set null,
    occurrence               text,
    -- revision written by the series; another revision means a user changed the post
    series_revision          bigint,
    series_template_revision bigint,
    -- canceled by the series; the occurrence may become a post again
    withdrawn                boolean not null default false,
    approval                 approval_state not null default 'none',
    submitted_by             uuid,                                 -- null: by a series or an operator
    submitted_at             timestamptz,
    approval_by              uuid,                                 -- who approved or rejected it
    approval_at              timestamptz,
    approval_note            text not null default '' check (length(approval_note) <= 2000),
    -- prefix of the short links in the sent text, equal for every attempt; null: links are not
    -- tracked
    link_base                text check (link_base ~ '^https?://'),
    queue_group_id           uuid references account_groups on delete set null, -- whose queue the post has a slot of
    label_ids                uuid[] not null default '{}',         -- labels, without order
    -- replaces those of the account and the campaign
    utm                      jsonb not null default '{}' check (jsonb_typeof(utm) = 'object'),
    search_text              text not null generated always
      as (fold_text(content || ' ' || jsonb_path_query_array(thread, '$[*].content')::text)) stored,
    -- The slot that the post occupies. It is free again as soon as the post is canceled, rejected or moved.
    queue_slot               timestamptz generated always as (case when queue_group_id is not null
                                 and (status not in ('draft', 'canceled') or approval = 'pending')
                                   then scheduled_time end) stored,
    check (cardinality(attachment_ids) = cardinality(attachment_urls)),
    check (thread_parent_id is null or thread_id is not null),
    constraint scheduled_posts_something check (status in ('draft', 'canceled') or content <> ''
      or cardinality(attachment_ids) > 0),
    constraint scheduled_posts_timed check (status in ('draft', 'canceled') or scheduled_time is not null),
    -- A post that waits for approval is a draft with a time: nothing unapproved can be scheduled.
    constraint scheduled_posts_approved check (approval not in ('pending', 'rejected')
      or status in ('draft', 'canceled'))
);
create index scheduled_posts_due on scheduled_posts (scheduled_time) where status = 'scheduled';
create index scheduled_posts_open on scheduled_posts (updated_at) where status in ('scheduled', 'publishing');
create index scheduled_posts_page on scheduled_posts (workspace_id, listed_at, post_id);
create index scheduled_posts_thread on scheduled_posts (thread_id) where thread_id is not null;
create index scheduled_posts_parent on scheduled_posts (thread_parent_id) where thread_parent_id is not null;
create unique index scheduled_posts_occurrence on scheduled_posts (series_id, occurrence) where series_id is not null
  and not withdrawn;
-- A slot takes one post.
create unique index scheduled_posts_slot on scheduled_posts (queue_group_id, queue_slot) where queue_slot is not null;
-- Which posts use a file. Most posts have none and cost nothing here.
create index scheduled_posts_attachments on scheduled_posts using gin (attachment_ids) where attachment_ids <> '{}';
create index scheduled_posts_labels on scheduled_posts using gin (label_ids) where label_ids <> '{}';
create index scheduled_posts_threads on scheduled_posts using gin (thread jsonb_path_ops) where thread <> '[]';

create type target_status as enum
    ('scheduled', 'publishing', 'posted', 'failed', 'uncertain', 'canceled');

-- Targets: one row for each account of a post.
create table post_targets (
    id            uuid primary key,
    post_id       uuid not null references scheduled_posts on delete cascade,
    account_id    uuid not null references accounts,
    status        target_status not null default 'scheduled',
    attempts      int not null default 0,                          -- sends that count against the retry limit
    fence         bigint not null default 0,                       -- incremented by every claim
    claimed_until timestamptz,                                     -- no other claim is possible before
    remote_id     text,
    remote_url    text,
    error_class   text,
    error_code    text,
    error_message text,
    sent_at       timestamptz,                                     -- when the final call was sent
    posted_at     timestamptz,                                     -- when its response arrived
    updated_at    timestamptz not null default now(),
    -- when the next segment of the thread is due; null: at once
    waits_until   timestamptz,
    -- what differs on this account: {"content", "attachment_ids", "thread", "options"}, each
    -- optional
    override      jsonb check (jsonb_typeof(override) = 'object'),
    fingerprint   bytea check (length(fingerprint) = 16),          -- of the text, to warn of duplicates; null: no text
    unique (post_id, account_id),
    check (status <> 'posted' or remote_id is not null)
);
create index post_targets_account on post_targets (account_id, status);
create index post_targets_dead on post_targets (updated_at) where status in ('failed', 'uncertain');
create index post_targets_overrides on post_targets using gin (override jsonb_path_ops) where override is not null;
create index post_targets_fingerprint on post_targets (account_id, fingerprint, id) where fingerprint is not null;

-- Links by which people without an account decide on one version of a post.
create table review_links (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    post_id      uuid not null references scheduled_posts on delete cascade,
    -- any other version of the post makes the link outdated
    post_version bigint not null,
    secret_hash  bytea not null unique check (length(secret_hash) = 32), -- SHA-256 of the secret in the URL
    name         text not null check (name <> ''),                 -- of the reviewer
    created_by   uuid references users on delete set null,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz not null,
    revoked_at   timestamptz,
    decision     text check (decision in ('approved', 'rejected')),
    decided_at   timestamptz,
    comment      text not null default '' check (length(comment) <= 2000),
    check ((decision is null) = (decided_at is null))
);
create index review_links_post on review_links (post_id);

-- Notes of members on posts. They are never published.
create table post_comments (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    post_id      uuid not null references scheduled_posts on delete cascade,
    user_id      uuid not null references users,
    text         text not null check (text <> '' and length(text) <= 2000),
    mentions     uuid[] not null default '{}',                     -- users who are notified
    created_at   timestamptz not null default clock_timestamp()
);
create index post_comments_post on post_comments (post_id, created_at);

create type rule_status as enum ('active', 'paused');

-- Rules that create posts from new articles (internal/publishing/rule).
create table rules (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid not null references users,                   -- who created it; its posts are theirs
    name         text not null check (name <> '' and length(name) <= 80),
    definition   jsonb not null check (jsonb_typeof(definition) = 'object'), -- rule.Definition
    status       rule_status not null default 'active',
    pause_reason text not null default '',                         -- empty while it is active
    pause_error  text not null default '',                         -- the last failure, if failures paused it
    paused_at    timestamptz,
    failures     int not null default 0,                           -- in a row
    active_since timestamptz not null default clock_timestamp(),   -- earlier articles are not evaluated
    evaluated_at timestamptz not null default 'epoch',             -- of a rule that selects articles by their views
    version      bigint not null default 1,                        -- incremented by every change; the API's ETag
    created_at   timestamptz not null default clock_timestamp(),
    updated_at   timestamptz not null default clock_timestamp(),
    check ((status = 'paused') = (pause_reason <> ''))
);
create unique index rules_name on rules (workspace_id, lower(name));
create index rules_active on rules (workspace_id) where status = 'active';

create type rule_outcome as enum ('skipped', 'reserved', 'created', 'failed');

-- What rules decided about articles. An article gets one post from each rule, and so does
-- a group of near-duplicates; from an evergreen rule, one in each round.
create table rule_decisions (
    id              uuid primary key,
    rule_id         uuid not null references rules on delete cascade,
    workspace_id    uuid not null references workspaces on delete cascade,
    article_id      uuid not null,
    group_id        uuid not null,                                 -- articles.group_id
    -- of an evergreen rule: counts its posts about the article, from 1
    round           int not null default 0,
    article_version bigint not null,                               -- that the post was last compared with
    title           text not null,
    url             text not null,
    outcome         rule_outcome not null,
    reason          text not null,
    params          jsonb not null default '{}',
    -- chosen when it was reserved: retries create the same post
    post_id         uuid,
    -- as the rule wrote it; any other was written by a person
    post_revision   bigint not null default 0,
    variant         int not null default 0,                        -- of the templates
    text_hash       bytea,                                         -- of the texts as the rule rendered them
    -- why a person should look at the post; empty: no reason
    attention       text not null default '',
    decided_at      timestamptz not null,
    updated_at      timestamptz not null default clock_timestamp(),
    constraint rule_decisions_article unique (rule_id, article_id, round),
    check (outcome not in ('reserved', 'created') or post_id is not null)
);
create unique index rule_decisions_group on rule_decisions (rule_id, group_id, round) where outcome in ('reserved',
  'created');
create index rule_decisions_time on rule_decisions (rule_id, decided_at);
create index rule_decisions_page on rule_decisions (workspace_id, id desc);
create index rule_decisions_posts on rule_decisions (article_id) where outcome in ('reserved', 'created');
create index rule_decisions_stories on rule_decisions (group_id) where outcome in ('reserved', 'created');
create index rule_decisions_reserved on rule_decisions (updated_at) where outcome = 'reserved';
create index rule_decisions_attention on rule_decisions (workspace_id, id desc) where attention <> '';

-- Stored and changed articles that rules have to evaluate: written in the transaction
-- that changes the article, deleted when the workflows of the decisions have started.
create table rule_articles (
    id           bigint generated always as identity primary key,
    article_id   uuid not null,
    attempts     int not null default 0,
    leased_until timestamptz not null default '-infinity'
);
create index rule_articles_open on rule_articles (leased_until, id);

create type operation_state as enum
    ('prepared', 'sending', 'accepted', 'definite_failure', 'ambiguous',
     'reconciled_ok', 'reconciled_absent', 'manual');

-- The ledger: a row is written before every call that cannot be undone.
create table operations (
    id              uuid primary key,
    target_id       uuid not null references post_targets on delete cascade,
    segment         int not null default 0,
    revision        bigint not null,                               -- of the post
    epoch           int not null default 1,                        -- incremented when the call is repeated
    fence           bigint not null,                               -- of the claim that made the call
    idempotency_key text not null,
    fingerprint     bytea not null check (length(fingerprint) = 32),
    prepared        jsonb not null default '{}',
    state           operation_state not null,
    sent_at         timestamptz,
    finished_at     timestamptz,
    remote_id       text,
    evidence        jsonb not null default '{}',
    created_at      timestamptz not null default now(),
    -- hash of text, attachment count and reply target: calls with equal keys look the same in a
    -- network's listing and are matched one to one
    content_key     bytea,
    unique (target_id, segment, revision, epoch)
);
create index operations_open on operations (target_id) where state in ('prepared', 'sending', 'ambiguous');
create index operations_alike on operations (content_key) where state in ('sending', 'ambiguous', 'manual');

-- Posts that exist at the networks, one row for each segment: the authority for
-- where a thread resumes and which target a remote post belongs to.
create table remote_posts (
    account_id uuid not null references accounts,
    remote_id  text not null,
    target_id  uuid not null references post_targets on delete cascade,
    segment    int not null,
    remote_url text,
    sent_at    timestamptz,
    posted_at  timestamptz not null,
    primary key (account_id, remote_id),
    unique (target_id, segment)
);
create index remote_posts_recent on remote_posts (account_id, posted_at);

-- Reading the metrics of an account's posts (internal/publishing/measure). A row
-- exists once it was tried.
create table account_measuring (
    account_id    uuid primary key references accounts on delete cascade,
    -- why nothing is read until resume_at; '': it is read
    reason        text not null default '',
    message       text not null default '',
    resume_at     timestamptz,
    failures      int not null default 0,                          -- since the last success
    -- of the account when the reason was recorded: a newer token resumes
    token_version bigint not null default 0,
    settings      jsonb not null default '{}',                     -- likewise: changed settings resume
    missing_scope text not null default '',                        -- a scope without which some metrics are absent
    -- metrics that the network refused, by its names: until when they are not requested
    refused       jsonb not null default '{}' check (jsonb_typeof(refused) = 'object'),
    charged_month date,                                            -- UTC
    -- posts in that month for whose metrics the network charged
    charged_reads int not null default 0,
    read_at       timestamptz                                      -- last success
);

-- The measured posts: the schedule of their readings, and their latest metrics. Rows
-- are added by the first run after a post, not when it is published.
create table post_metrics (
    account_id    uuid not null,
    remote_id     text not null,
    due_at        timestamptz,                                     -- of the next reading; null: there is none
    claim         uuid,                                            -- of the run that reads it
    claimed_until timestamptz,
    state         text not null default 'pending' check (state in ('pending', 'measured', 'missing', 'deleted',
      'unavailable', 'unsupported')),
    missing_since timestamptz,                                     -- first reading without the post
    measured_at   timestamptz,                                     -- last reading with it
    charged_on    date,                                            -- last UTC day on which the network charged for it
    -- metric: value; an absent metric is not zero
    latest        jsonb not null default '{}' check (jsonb_typeof(latest) = 'object'),
    primary key (account_id, remote_id),
    foreign key (account_id, remote_id) references remote_posts on delete cascade
);
create index post_metrics_due on post_metrics (due_at) where due_at is not null;

-- Every reading, one row per metric.
create table post_metric_readings (
    account_id uuid not null,
    remote_id  text not null,
    metric     text not null,
    at         timestamptz not null,
    value      bigint not null,
    primary key (account_id, remote_id, metric, at),
    foreign key (account_id, remote_id) references post_metrics on delete cascade
);

-- Events for timelines, live streams and webhooks; events of an account or a site
-- have no post. tx is the transaction that wrote the event. Ids are assigned
-- before a transaction commits, so a reader that orders by id alone skips events
-- that commit later. In the order (tx, id) everything before the oldest running
-- transaction (pg_snapshot_xmin) is complete.
create table post_events (
    id           bigint generated always as identity primary key,
    post_id      uuid references scheduled_posts on delete cascade,
    workspace_id uuid not null references workspaces on delete cascade,
    target_id    uuid references post_targets on delete cascade,
    type         text not null,
    actor        text not null,                                    -- user:<id>, operator, dateline
    data         jsonb not null default '{}',
    at           timestamptz not null default clock_timestamp(),
    account_id   uuid references accounts on delete cascade,
    tx           xid8 not null default pg_current_xact_id()
);
create index post_events_post on post_events (post_id, id);
create index post_events_workspace on post_events (workspace_id, tx, id);
-- The event types that webhooks deliver; the query DueEvents names the same types.
create index post_events_outcomes on post_events (tx, id)
    where type in ('posted', 'failed', 'uncertain', 'late', 'needs_reconnect', 'expiring', 'submitted', 'approved',
      'rejected',
        'selectors_learned', 'selectors_rolled_back', 'selectors_failed', 'article_matched', 'story_missed',
          'site_spike', 'site_drop', 'system_trouble', 'system_recovered', 'rule_paused', 'page_changed');

-- Responses of bulk requests, returned again when a request is repeated.
create table bulk_answers (
    id         uuid primary key,
    answer     jsonb not null,
    created_at timestamptz not null default now()
);
create index bulk_answers_age on bulk_answers (created_at);

-- The worker registry: workers write a heartbeat every few seconds, and another
-- worker takes over from one that is unresponsive.
create table workers (
    identity        text primary key,                              -- the Temporal worker identity
    seen_at         timestamptz not null default clock_timestamp(),
    leased_until timestamptz                                    -- lease of the worker that takes over
);

-- +goose Down
drop table rule_articles, rule_decisions, rules, workers, bulk_answers, review_links, post_comments, post_events,
  post_metric_readings, post_metrics, account_measuring, remote_posts, operations, post_targets, scheduled_posts,
  series_exceptions, series,
    media_uploads, media_renditions, media, media_objects, account_choices, connect_attempts, network_apps,
      account_groups, labels, snippets, account_avatars, accounts;
drop type rule_outcome, rule_status, operation_state, target_status, approval_state, post_status, series_exception_kind,
  series_status, account_status;
drop function fold_text;
