-- +goose Up

-- What Redis has counted, as FlushViews brought it here. A page belongs to a
-- site; neither a visitor nor anything of one is in these tables, but for
-- view_erasures while one is under way.

create type view_kind as enum ('view', 'click', 'convert');

-- A page and its running totals, from which Redis is filled again when it has
-- lost them.
create table view_pages (
    site_id         uuid not null,
    page            text not null check (octet_length(page) between 1 and 200),
    way             text not null,                             -- in which different visitors are told apart
    views           bigint not null default 0,
    clicks          bigint not null default 0,
    converts        bigint not null default 0,
    funnel_views    bigint not null default 0,
    funnel_clicks   bigint not null default 0,
    funnel_converts bigint not null default 0,
    uniques         bigint not null default 0,                 -- what Redis said last, of all time
    sketch          bytea,                                     -- its HyperLogLog: whom it counted cannot be read from it
    sketch_due      boolean not null default true,             -- visitors came since it was kept
    updated_at      timestamptz not null default now(),
    primary key (site_id, page)
) with (fillfactor = 80);
create index view_pages_sketch_due on view_pages (site_id, page) where sketch_due;

-- Counts by hour, then day, then month: a partition is dropped when its time is
-- over. A row remembers how much of it the next table has already. The funnel
-- counts by a window of its own.
create table view_hours (
    site_id       uuid not null,
    page          text not null,
    kind          view_kind not null,
    hour          timestamptz not null,
    day           date not null,                               -- that the hour is of, in the site's zone
    count         bigint not null,
    funnel        bigint not null,
    rolled_count  bigint not null default 0,
    rolled_funnel bigint not null default 0,
    primary key (site_id, page, kind, hour)
) partition by range (hour);
create index view_hours_hour on view_hours (hour);

create table view_days (
    site_id       uuid not null,
    page          text not null,
    kind          view_kind not null,
    day           date not null,
    count         bigint not null,
    funnel        bigint not null,
    rolled_count  bigint not null default 0,
    rolled_funnel bigint not null default 0,
    primary key (site_id, page, kind, day)
) partition by range (day);
create index view_days_day on view_days (day);

create table view_months (
    site_id uuid not null,
    page    text not null,
    kind    view_kind not null,
    month   date not null,                                     -- its first day
    count   bigint not null,
    funnel  bigint not null,
    primary key (site_id, page, kind, month)
) partition by range (month);

-- Hours and days that have something for the next table.
create table view_hours_due (hour timestamptz primary key, touched_at timestamptz not null default now());
create table view_days_due (day date primary key, touched_at timestamptz not null default now());

-- Where readers are, what they read with, and where they came from.
create table view_dimensions (
    site_id   uuid not null,
    page      text not null,
    day       date not null,
    dimension text not null,                                   -- country, device, referrer
    value     text not null,
    count     bigint not null,
    primary key (site_id, page, day, dimension, value)
) partition by range (day);

-- What was not counted, and why.
create table view_filtered (
    site_id uuid not null,
    page    text not null,
    day     date not null,
    reason  text not null,
    count   bigint not null,
    primary key (site_id, page, day, reason)
) partition by range (day);

-- How many different visitors a page had: what Redis said last. A week is the
-- seven days that end with the day.
create table view_uniques (
    site_id    uuid not null,
    page       text not null,
    day        date not null,
    uniques    bigint not null,
    week       bigint not null,
    updated_at timestamptz not null default now(),
    primary key (site_id, page, day)
) partition by range (day);

-- Batches that were applied: a row is written in the transaction that adds the
-- batch's counts, so that none is added twice.
create table view_batches (
    id         uuid primary key,
    shard      int not null,
    counts     bigint not null,                                -- views, clicks and conversions in it
    applied_at timestamptz not null default now()
);
create index view_batches_age on view_batches (applied_at);

-- Redis was found without its counts, and filled again.
create table view_losses (
    id       bigint generated always as identity primary key,
    shard    int not null,
    pages    bigint not null,
    found_at timestamptz not null default now()
);

-- What comparing Redis with these tables found.
create table view_checks (
    id         bigint generated always as identity primary key,
    started_at timestamptz not null,
    ended_at   timestamptz not null,
    pages      bigint not null,                                -- pages and kinds that were compared
    differing  bigint not null,                                -- of them
    missing    bigint not null,                                -- views that Redis has less than it should
    surplus    bigint not null,                                -- and more
    next_site  uuid,                                           -- where the next one goes on; null: at the beginning
    next_page  text,
    examples   jsonb not null default '[]'
);

-- What is to be forgotten: a site's counts, or one visitor of it. The visitor
-- is named until it is done, and not after.
create table view_erasures (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    site_id      uuid not null,
    of_visitor   boolean not null,
    visitor_hash bigint,                                       -- the bits of the hash
    visitor_id   bigint,
    requested_by uuid not null,
    requested_at timestamptz not null default now(),
    done_at      timestamptz,
    removed      bigint not null default 0,
    check (done_at is null or (visitor_hash is null and visitor_id is null))
);
create index view_erasures_open on view_erasures (requested_at) where done_at is null;
create index view_erasures_page on view_erasures (workspace_id, requested_at desc, id);

-- Short links. The code is all that a reader's address names; where it leads is
-- kept here alone.
create table links (
    code        text primary key check (code ~ '^[0-9A-Za-z]{10}$'),
    workspace_id uuid not null references workspaces on delete cascade,
    user_id     uuid references users on delete set null,
    post_id     uuid references scheduled_posts on delete cascade,
    account_id  uuid references accounts on delete set null,
    network     text not null default '',
    url         text not null check (length(url) <= 2048 and url ~* '^https?://'),
    title       text not null default '' check (length(title) <= 200),
    created_at  timestamptz not null default now(),
    disabled_at timestamptz,
    check (account_id is null or post_id is not null)
);
create index links_page on links (workspace_id, created_at desc, code);
create index links_post on links (post_id) where post_id is not null;

-- A post's text keeps what its author wrote; what is sent has short links in it,
-- which begin so. Null: links are not tracked. It is kept here so that every
-- attempt sends the same, whatever is configured by then.
alter table scheduled_posts add column link_base text check (link_base ~ '^https?://');

-- +goose Down
alter table scheduled_posts drop column link_base;
drop table links, view_erasures, view_checks, view_losses, view_batches, view_uniques, view_filtered, view_dimensions,
    view_days_due, view_hours_due, view_months, view_days, view_hours, view_pages;
drop type view_kind;
