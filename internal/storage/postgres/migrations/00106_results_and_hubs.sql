-- +goose Up
-- Databases that builds from between 00105 and this migration made have some of this already.
alter table accounts
    -- what its server leaves out: message.Messages
    add column if not exists notes jsonb not null default '[]' check (jsonb_typeof(notes) = 'array');

alter table media
    add column if not exists pages int not null default 0 check (pages >= 0),           -- of a document
    add column if not exists audio_rate int not null default 0 check (audio_rate >= 0), -- samples per second
    add column if not exists pixel_format text not null default '',                     -- as ffprobe names it
    drop constraint media_kind_check,
    add constraint media_kind_check check (kind in ('image', 'animation', 'video', 'document')) not valid;

alter table post_targets
    -- the post's, copied by triggers, to find an account's posts by time
    add column if not exists listed_at timestamptz,
    -- what the network made otherwise than asked: [{"segment", "code", "message", "params"}]
    add column if not exists differences jsonb not null default '[]' check (jsonb_typeof(differences) = 'array'),
    -- a serious difference on which nobody has decided yet
    add column if not exists needs_review boolean not null default false,
    -- when a person had it deleted at the network
    add column if not exists deleted_at timestamptz;
-- +goose StatementBegin
create or replace function set_target_time() returns trigger language plpgsql as $$
begin
    select p.listed_at into new.listed_at from scheduled_posts p where p.post_id = new.post_id;
    return new;
end $$;
create or replace function update_target_times() returns trigger language plpgsql as $$
begin
    update post_targets set listed_at = new.listed_at where post_id = new.post_id;
    return null;
end $$;
-- +goose StatementEnd
create or replace trigger post_targets_set_time before insert on post_targets
    for each row when (new.listed_at is null) execute function set_target_time();
create or replace trigger scheduled_posts_update_targets after update of scheduled_time on scheduled_posts
    for each row when (old.listed_at is distinct from new.listed_at) execute function update_target_times();
update post_targets t set listed_at = p.listed_at
from scheduled_posts p where p.post_id = t.post_id and t.listed_at is null;
alter table post_targets add constraint post_targets_listed check (listed_at is not null) not valid;

-- Results of commands that operators sent to a post's workflow: an activity may run again
-- after its result was lost.
create table if not exists post_commands (
    post_id uuid not null references scheduled_posts on delete cascade,
    key     text not null,                                         -- of the command, see post.Guard
    code    text not null default '',                              -- why it was refused; empty: it was applied
    reason  text not null default '',
    at      timestamptz not null default clock_timestamp(),
    primary key (post_id, key)
);

alter table site_days
    add column if not exists without_visits boolean not null default false; -- the import knows views only

-- Subscriptions to the hubs that feeds name (internal/news/crawl/websub), one for each feed.
create table if not exists websub_subscriptions (
    id               uuid primary key,
    domain_id        integer not null references crawl_domains,
    url_id           uuid not null,             -- the feed in the frontier
    feed_url         text not null,
    hub              text not null,
    topic            text not null,             -- the feed's address at the hub
    status           text not null default 'pending' check (status in ('pending', 'active', 'denied')),
    key              bytea not null,            -- sealed; the callback and the secret are derived from it
    -- SHA-256 of the last part of the callback's path
    callback_hash    bytea not null unique check (length(callback_hash) = 32),
    requested_until  timestamptz,               -- the hub may verify our request until then; null: there is none
    lease_ends_at    timestamptz,
    due_at           timestamptz not null default clock_timestamp(), -- of the next request to the hub
    claim            uuid,                      -- of the worker that sends it
    failures         integer not null default 0, -- in a row
    last_error       text not null default '',
    discovered_at    timestamptz not null default clock_timestamp(), -- when the feed last named the hub
    delivered_at     timestamptz,               -- the last delivery
    delivering_until timestamptz,               -- the feed is polled less often until then
    created_at       timestamptz not null default clock_timestamp(),
    unique (domain_id, url_id)
);
create index if not exists websub_subscriptions_due on websub_subscriptions (due_at);

-- +goose Down
drop table websub_subscriptions, post_commands;
alter table site_days drop column without_visits;
drop trigger scheduled_posts_update_targets on scheduled_posts;
drop trigger post_targets_set_time on post_targets;
drop function update_target_times, set_target_time;
alter table post_targets drop constraint post_targets_listed, drop column deleted_at, drop column needs_review,
    drop column differences, drop column listed_at;
alter table media drop column pixel_format, drop column audio_rate, drop column pages,
    drop constraint media_kind_check,
    add constraint media_kind_check check (kind in ('image', 'animation', 'video'));
alter table accounts drop column notes;
