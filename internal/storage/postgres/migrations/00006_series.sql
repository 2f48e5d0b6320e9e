-- +goose Up

create type series_status as enum ('active', 'paused', 'ended');

-- A post that recurs. Its occurrences are posts of their own; each is named by
-- its time on the wall clock of the series, like 2026-12-24T18:00:00.
create table series (
    id                uuid primary key,
    workspace_id      uuid not null references workspaces on delete cascade,
    user_id           uuid not null references users,
    rule              text not null check (rule <> ''),         -- RFC 5545, the part that internal/recur follows
    starts            text not null check (starts <> ''),       -- on the wall clock; the rule is anchored here
    time_zone         text not null check (time_zone <> ''),    -- IANA
    template          jsonb not null check (jsonb_typeof(template) = 'object'),
    status            series_status not null default 'active',
    template_revision bigint not null default 1,               -- every change of what or when
    looked_until      timestamptz not null default now(),      -- occurrences up to here are posts, skipped or noted as missed
    last_problem      text,
    last_problem_at   timestamptz,
    version           bigint not null default 1,               -- every change by a person; the API's ETag
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now()
);
create index series_workspace on series (workspace_id, created_at desc, id desc);
create index series_open on series (id) where status <> 'ended';

create type series_note_kind as enum ('skipped', 'missed');

-- Occurrences that are no posts, and why.
create table series_notes (
    series_id  uuid not null references series on delete cascade,
    occurrence text not null,
    kind       series_note_kind not null,
    reason     text not null default '',
    at         timestamptz not null default now(),
    primary key (series_id, occurrence)
);

-- What a series made. A post whose revision is not series_revision any more was
-- changed by a person, and the series leaves it alone. One that the series took
-- back itself is withdrawn: its occurrence may become a post again.
alter table scheduled_posts
    add column series_id                uuid references series on delete set null,
    add column occurrence               text,
    add column series_revision          bigint,
    add column series_template_revision bigint,
    add column withdrawn                boolean not null default false;
create unique index scheduled_posts_occurrence on scheduled_posts (series_id, occurrence) where series_id is not null and not withdrawn;

-- What bulk requests were answered, for their repetition.
create table bulk_answers (
    id         uuid primary key,
    answer     jsonb not null,
    created_at timestamptz not null default now()
);
create index bulk_answers_age on bulk_answers (created_at);

-- +goose Down
drop table bulk_answers;
drop index scheduled_posts_occurrence;
alter table scheduled_posts
    drop column withdrawn,
    drop column series_template_revision,
    drop column series_revision,
    drop column occurrence,
    drop column series_id;
drop table series_notes, series;
drop type series_note_kind, series_status;
