-- +goose Up

-- Threads: what follows the first segment, as [{"content", "attachment_ids"}].
-- A draft may lack what a scheduled post needs; it then lists by its creation.
alter table scheduled_posts
    add column thread             jsonb not null default '[]' check (jsonb_typeof(thread) = 'array'),
    add column late_limit_minutes int check (late_limit_minutes > 0), -- dropped when later than this
    add column redriven_at        timestamptz,                 -- a person asked for another round: lateness counts from here
    add column late_noted_at      timestamptz,                 -- the timeline says that it is late
    alter column scheduled_time drop not null,
    drop constraint scheduled_posts_check,
    add constraint scheduled_posts_something check (status in ('draft', 'cancelled') or content <> '' or cardinality(attachment_ids) > 0),
    add constraint scheduled_posts_timed check (status in ('draft', 'cancelled') or scheduled_time is not null);
alter table scheduled_posts
    add column listed_at timestamptz not null generated always as (coalesce(scheduled_time, created_at)) stored;
drop index scheduled_posts_page;
create index scheduled_posts_page on scheduled_posts (workspace_id, listed_at, post_id);

-- What differs on this account: {"content", "attachment_ids", "thread"}, each optional.
alter table post_targets
    add column override jsonb check (jsonb_typeof(override) = 'object');
create index post_targets_dead on post_targets (updated_at) where status in ('failed', 'uncertain');

-- What exists at the networks, a row for each segment: the authority for where
-- a thread resumes, and for whose a remote post is.
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
insert into remote_posts (account_id, remote_id, target_id, segment, remote_url, sent_at, posted_at)
select account_id, remote_id, id, 0, remote_url, sent_at, coalesce(posted_at, updated_at)
from post_targets where remote_id is not null;
drop index post_targets_remote;

-- +goose Down
create unique index post_targets_remote on post_targets (account_id, remote_id) where remote_id is not null;
drop table remote_posts;
drop index post_targets_dead;
alter table post_targets drop column override;
drop index scheduled_posts_page;
alter table scheduled_posts drop column listed_at;
alter table scheduled_posts
    drop constraint scheduled_posts_timed,
    drop constraint scheduled_posts_something,
    drop column late_noted_at,
    drop column redriven_at,
    drop column late_limit_minutes,
    drop column thread;
update scheduled_posts set scheduled_time = created_at where scheduled_time is null;
alter table scheduled_posts
    alter column scheduled_time set not null,
    add constraint scheduled_posts_check check (content <> '' or cardinality(attachment_ids) > 0) not valid;
create index scheduled_posts_page on scheduled_posts (workspace_id, scheduled_time, post_id);
