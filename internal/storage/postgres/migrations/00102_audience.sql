-- +goose Up
-- Web sites whose page views are counted. The counts are in Redis and in the
-- view_ tables, by site id.
create table sites (
    id             uuid primary key,
    workspace_id   uuid not null references workspaces on delete cascade,
    name           text not null check (name <> '' and length(name) <= 200),
    domains        text[] not null check (cardinality(domains) <= 50), -- hosts in lower case; subdomains are included
    time_zone      text not null check (time_zone <> ''),
    window_seconds int not null check (window_seconds between 60 and 86400),
    unique_method  text not null check (unique_method in ('set', 'set_per_day', 'hyperloglog', 'bitmap')),
    max_id         bigint not null check (max_id between 0 and 4294967295),
    rate_hits      int not null check (rate_hits between 1 and 100000),
    rate_seconds   int not null check (rate_seconds between 1 and 3600),
    visitors       text not null check (visitors in ('cookie', 'cookieless')),
    weekly_uniques boolean not null,
    public_counts  boolean not null,
    events         jsonb not null default '[]',                    -- declared: [{name, properties}]
    goals          jsonb not null default '[]',                    -- [{name, event or page}]
    write_key      text not null unique,                           -- part of the public tracker snippet; not a secret
    secret_hash    bytea not null check (length(secret_hash) = 32),
    visitor_key    bytea not null,                                 -- sealed; user ids are hashed with it
    created_at     timestamptz not null default now(),
    updated_at     timestamptz not null default now(),
    check (unique_method <> 'bitmap' or max_id > 0)
);
create index sites_workspace on sites (workspace_id, created_at, id);

-- The version of the sites, so that processes know when to reload them.
create table site_changes (
    one     boolean primary key default true check (one),
    version bigint not null
);
insert into site_changes (version) values (1);
-- +goose StatementBegin
create function site_changed() returns trigger language plpgsql as $$
begin
    update site_changes set version = version + 1;
    return null;
end $$;
-- +goose StatementEnd
create trigger sites_changed after insert or update or delete or truncate
  on sites for each statement execute function site_changed();

-- Page views flushed from Redis. These tables hold no visitor data, except
-- view_erasures while an erasure is in progress.
--
-- view, click, conversion: what readers did. entry: visits that started on the
-- page. recirculation: views of other pages that were reached from the page.
create type view_kind as enum ('view', 'click', 'conversion', 'entry', 'recirculation');

-- Pages and their running totals, from which Redis is restored after data loss.
-- Other tables name a page by its id.
create table view_pages (
    id              bigint not null generated always as identity unique,
    site_id         uuid not null,
    page            text not null check (octet_length(page) between 1 and 200),
    unique_method   text not null,                                 -- how unique visitors are counted
    views           bigint not null default 0,
    clicks          bigint not null default 0,
    conversions     bigint not null default 0,
    funnel_views    bigint not null default 0,
    funnel_clicks   bigint not null default 0,
    funnel_conversions bigint not null default 0,
    uniques         bigint not null default 0,                     -- last value from Redis, of all time
    sketch          bytea,                                         -- its HyperLogLog: visitors cannot be read from it
    sketch_due      boolean not null default true,                 -- visitors were added since it was stored
    updated_at      timestamptz not null default now(),
    primary key (site_id, page)
) with (fillfactor = 80);
create index view_pages_sketch_due on view_pages (site_id, page) where sketch_due;

-- Counts by hour, day and month. Expired partitions are dropped. rolled_ columns
-- hold how much of a row is already in the next table. The funnel is counted
-- with a deduplication window of its own.
create table view_hours (
    page_id       bigint not null,
    kind          view_kind not null,
    hour          timestamptz not null,
    day           date not null,                                   -- the hour's day in the site's time zone
    count         bigint not null,
    funnel        bigint not null,
    rolled_count  bigint not null default 0,
    rolled_funnel bigint not null default 0,
    primary key (page_id, kind, hour)
) partition by range (hour);
create index view_hours_hour on view_hours (hour);

create table view_days (
    page_id       bigint not null,
    kind          view_kind not null,
    day           date not null,
    count         bigint not null,
    funnel        bigint not null,
    rolled_count  bigint not null default 0,
    rolled_funnel bigint not null default 0,
    primary key (page_id, kind, day)
) partition by range (day);
create index view_days_day on view_days (day);

create table view_months (
    page_id bigint not null,
    kind    view_kind not null,
    month   date not null,                                         -- its first day
    count   bigint not null,
    funnel  bigint not null,
    primary key (page_id, kind, month)
) partition by range (month);

-- Hours and days that are not completely rolled up yet.
create table view_hours_due (hour timestamptz primary key, touched_at timestamptz not null default now());
create table view_days_due (day date primary key, touched_at timestamptz not null default now());

create table view_dimensions (
    page_id   bigint not null,
    day       date not null,
    dimension text not null,                                       -- country, device, referrer
    value     text not null,
    count     bigint not null,
    primary key (page_id, day, dimension, value)
) partition by range (day);

-- Hits that were not counted, by reason.
create table view_filtered (
    page_id bigint not null,
    day     date not null,
    reason  text not null,
    count   bigint not null,
    primary key (page_id, day, reason)
) partition by range (day);

-- Unique visitors of a page, as last reported by Redis. A week is the seven days
-- that end with the day.
create table view_uniques (
    page_id    bigint not null,
    day        date not null,
    uniques    bigint not null,
    week       bigint not null,
    updated_at timestamptz not null default now(),
    primary key (page_id, day)
) partition by range (day);

-- Totals of sites, by hour and day in the site's time zone. They are added up in
-- the transaction that applies a batch.
create table site_hours (
    site_id       uuid not null,
    hour          timestamptz not null,
    day           date not null,
    views         bigint not null,
    clicks        bigint not null,
    conversions   bigint not null,
    visits        bigint not null,
    -- visits with a second page load; bounces = visits - second_views
    second_views  bigint not null,
    -- visits with a second page load or a view read for 10 seconds
    engaged_visits bigint not null default 0,
    recirculation bigint not null,
    -- unique visitors of the day until the end of the hour
    day_visitors  bigint not null default 0,
    primary key (site_id, hour)
) with (fillfactor = 80);

create table site_days (
    site_id       uuid not null,
    day           date not null,
    views         bigint not null,
    clicks        bigint not null,
    conversions   bigint not null,
    visits        bigint not null,
    second_views  bigint not null,
    engaged_visits bigint not null default 0,
    recirculation bigint not null,
    visitors      bigint not null default 0,                       -- estimated from the sketch
    -- HyperLogLog of the visitors in Redis' format: visitors cannot be read from it
    sketch        bytea,
    sketch_due    boolean not null default true,                   -- visitors were added since it was stored
    pages_due     boolean not null default true,                   -- site_page_days must be computed again
    import_id     uuid,                                            -- of an imported row
    articles_due  boolean not null default true,                   -- site_article_days must be computed again
    articles_at   timestamptz not null default '-infinity',        -- when that was last done
    primary key (site_id, day)
) with (fillfactor = 80);
alter table site_days alter column sketch set storage external;    -- does not compress
create index site_days_sketch_due on site_days (site_id, day) where sketch_due;
create index site_days_pages_due on site_days (site_id, day) where pages_due;
create index site_days_articles_due on site_days (site_id, day) where articles_due;

-- Values of a dimension by site and day. Rare values are added to 'other'.
create table site_dimension_days (
    site_id   uuid not null,
    -- country, device, browser, os, channel, source, campaign, link
    dimension text not null,
    day       date not null,
    value     text not null,
    views     bigint not null,                                     -- of country and device only
    visits    bigint not null,
    import_id     uuid,                                            -- of an imported row
    primary key (site_id, dimension, day, value)
) with (fillfactor = 80);

-- The most viewed pages of a day and of a completed month, computed from view_days
-- and view_months. Page 0 is the sum of all other pages.
create table site_page_days (
    site_id       uuid not null,
    day           date not null,
    page_id       bigint not null,
    views         bigint not null,
    visitors      bigint not null,
    entries       bigint not null,
    recirculation bigint not null,
    import_id     uuid,                                            -- of an imported row
    primary key (site_id, day, page_id)
);
create table site_page_months (
    site_id       uuid not null,
    month         date not null,                                   -- its first day
    page_id       bigint not null,
    views         bigint not null,
    visitors      bigint not null,                                 -- sum of the days
    entries       bigint not null,
    recirculation bigint not null,
    -- as in view_engagement; null: no view sent heartbeats
    engaged       bigint[],
    scrolled      bigint[],
    import_id     uuid not null default '00000000-0000-0000-0000-000000000000', -- of an imported row
    primary key (site_id, month, page_id, import_id)
);
create table site_page_months_due (
    site_id uuid not null,
    month   date not null,
    primary key (site_id, month)
);

-- Engaged time and scroll depth of views that sent heartbeats, by page and by site
-- and the day of the view. Both arrays are cumulative: element i of engaged counts
-- the views engaged for at least 1800^((i-1)/24) seconds (the first one all of
-- them), element i of scrolled those scrolled to at least i * 25 %.
create table view_engagement (
    page_id  bigint not null,
    day      date not null,
    engaged  bigint[] not null check (cardinality(engaged) = 24),
    scrolled bigint[] not null check (cardinality(scrolled) = 4),
    primary key (page_id, day)
) partition by range (day);
create table site_engagement (
    site_id  uuid not null,
    day      date not null,
    engaged  bigint[] not null check (cardinality(engaged) = 24),
    scrolled bigint[] not null check (cardinality(scrolled) = 4),
    primary key (site_id, day)
) with (fillfactor = 80);
create function add_counts(a bigint[], b bigint[]) returns bigint[] language sql immutable strict parallel safe
    return (select array_agg(w.x + w.y order by w.i) from unnest(a, b) with ordinality w(x, y, i));
create aggregate sum_counts(bigint[]) (sfunc = add_counts, stype = bigint[], parallel = safe);

-- Events that sites declare, by day: with an empty property the event itself,
-- otherwise one value of a property. Rare values are added to 'other'.
create table site_events (
    site_id  uuid not null,
    day      date not null,
    event    text not null,
    property text not null,
    value    text not null,
    count    bigint not null,
    primary key (site_id, event, property, day, value)
) with (fillfactor = 80);

-- Articles by the page of the site that shows them, with what reports group by.
-- They are found by their canonical URL.
create table site_articles (
    site_id      uuid not null,
    page         text not null,
    article_id   uuid not null,
    title        text not null,
    authors      text[] not null,
    section      text not null,                                    -- empty: unknown
    tags         text[] not null,
    published_at timestamptz not null,                             -- if unknown, when it was found
    published_on date not null,                                    -- the day in the site's time zone
    primary key (site_id, page)
);
create index site_articles_published on site_articles (site_id, published_at);

-- How far the changes of a site's articles have been read.
create table site_article_cursors (
    site_id    uuid primary key references sites on delete cascade,
    domains    text[] not null,                                    -- the site's domains, and
    -- the crawled domains: if they change, all articles are read again
    domain_ids integer[] not null,
    updated_at timestamptz not null,
    article_id uuid not null
);

-- Views of articles by author, section, tag and age, computed from view_days. An
-- article with two authors is counted for both. The row of 'all' is the sum of the
-- pages that show an article, 'none' that of the others.
create table site_article_days (
    site_id       uuid not null,
    dimension     text not null,                                   -- author, section, tag, age, all, none
    day           date not null,
    value         text not null,
    views         bigint not null,
    visitors      bigint not null,                                 -- sum of the articles'
    entries       bigint not null,
    recirculation bigint not null,
    social_views  bigint not null,                                 -- views that came from social networks
    -- as in view_engagement; null: no view sent heartbeats
    engaged       bigint[],
    scrolled      bigint[],
    primary key (site_id, dimension, day, value)
);

-- Applied batches. The row is written in the transaction that adds the batch's
-- counts, so that no batch is added twice.
create table view_batches (
    id         uuid primary key,
    shard      int not null,
    counts     bigint not null,                                    -- views, clicks and conversions in it
    applied_at timestamptz not null default now(),
    -- quarantined records, counted when they are replayed
    skipped_records uuid[] not null default '{}'
);
create index view_batches_age on view_batches (applied_at);

-- Times when Redis had lost its counts and was restored.
create table view_losses (
    id       bigint generated always as identity primary key,
    shard    int not null,
    pages    bigint not null,
    found_at timestamptz not null default now()
);

-- Results of comparing Redis with these tables.
create table view_checks (
    id         bigint generated always as identity primary key,
    started_at timestamptz not null,
    ended_at   timestamptz not null,
    pages      bigint not null,                                    -- compared pages and kinds
    differing  bigint not null,
    missing    bigint not null,                                    -- views that Redis lacks
    surplus    bigint not null,                                    -- views that Redis has in excess
    next_site  uuid,                                               -- where the next check continues; null: at the start
    next_page  text,
    examples   jsonb not null default '[]'
);

-- Erasure requests: a site's counts, or one visitor. The visitor is named only
-- until the erasure is done.
create table view_erasures (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    site_id      uuid not null,
    single_visitor boolean not null,
    visitor_hash bigint,                                           -- the bits of the hash
    visitor_id   bigint,
    requested_by uuid not null,
    requested_at timestamptz not null default now(),
    done_at      timestamptz,
    removed      bigint not null default 0,
    check (done_at is null or (visitor_hash is null and visitor_id is null))
);
create index view_erasures_open on view_erasures (requested_at) where done_at is null;
create index view_erasures_page on view_erasures (workspace_id, requested_at desc, id);

-- Short links. A short URL contains only the code; the destination is stored here.
create table links (
    code         text primary key check (code ~ '^[0-9A-Za-z]{10}$'),
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid references users on delete set null,
    post_id      uuid references scheduled_posts on delete cascade,
    account_id   uuid references accounts on delete set null,
    network      text not null default '',
    url          text not null check (length(url) <= 2048 and url ~* '^https?://'),
    title        text not null default '' check (length(title) <= 200),
    created_at   timestamptz not null default now(),
    disabled_at  timestamptz,
    check (account_id is null or post_id is not null)
);
create index links_page on links (workspace_id, created_at desc, code);
create index links_post on links (post_id) where post_id is not null;
-- Engaged time and scroll depth of the views that a short link opened, as in
-- view_engagement.
create table link_engagement (
    site_id  uuid not null,
    code     text not null references links on delete cascade,
    day      date not null,
    engaged  bigint[] not null check (cardinality(engaged) = 24),
    scrolled bigint[] not null check (cardinality(scrolled) = 4),
    primary key (code, site_id, day)
) with (fillfactor = 80);
create index link_engagement_site on link_engagement (site_id);

-- Statistics that were imported from other products. Their rows have the import's id
-- and are of days before the first one that Dateline counted.
create table stats_imports (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    site_id      uuid not null references sites on delete cascade,
    source       text not null check (source in ('plausible', 'goatcounter', 'ga4')),
    from_day     date not null,
    to_day       date not null,
    views        bigint not null,
    created_at   timestamptz not null default clock_timestamp()
);
create index stats_imports_site on stats_imports (site_id, created_at);
create index stats_imports_workspace on stats_imports (workspace_id);

-- Links that show a site's report to people without a login.
create table shared_links (
    id            uuid primary key,
    workspace_id  uuid not null references workspaces on delete cascade,
    site_id       uuid not null references sites on delete cascade,
    name          text not null check (length(name) between 1 and 100),
    filter_name   text not null default '',
    filter_value  text not null default '',
    embed_origins text[] not null default '{}' check (cardinality(embed_origins) <= 10),
    token_hash    bytea not null unique check (length(token_hash) = 32),
    password_hash bytea check (length(password_hash) = 60),      -- bcrypt; null: no password
    expires_at    timestamptz,
    created_at    timestamptz not null default clock_timestamp()
);
create index shared_links_site on shared_links (site_id, created_at, id);
create index shared_links_workspace on shared_links (workspace_id);

-- Recipients of reports and alerts.
create table report_subscriptions (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    site_id      uuid not null references sites on delete cascade,
    kind         text not null check (kind in ('weekly', 'monthly', 'alerts')),
    email        text not null check (length(email) between 3 and 254),
    language     text not null check (language in ('en', 'vi')),
    token        text not null unique,                          -- allows unsubscribing, and nothing else
    created_at   timestamptz not null default clock_timestamp()
);
create unique index report_subscriptions_email on report_subscriptions (site_id, kind, lower(email));
create index report_subscriptions_workspace on report_subscriptions (workspace_id);

-- The outbox of emails. An id is derived from what the email is about, so that each is
-- added once. A row that stays in sending may have been delivered.
create table emails (
    id              uuid primary key,
    workspace_id    uuid not null references workspaces on delete cascade,
    subscription_id uuid references report_subscriptions on delete cascade,
    recipient       text not null,
    subject         text not null,
    body_text       text not null,
    body_html       text not null,
    unsubscribe_url text not null default '',
    status          text not null default 'pending' check (status in ('pending', 'sending', 'sent', 'dead')),
    attempts        int not null default 0,
    due_at          timestamptz not null default clock_timestamp(),
    attempted_at    timestamptz,
    sent_at         timestamptz,
    last_error      text not null default '',
    created_at      timestamptz not null default clock_timestamp()
);
create index emails_due on emails (due_at) where status = 'pending';
create index emails_sending on emails (attempted_at) where status = 'sending';
create index emails_subscription on emails (subscription_id, created_at desc);
create index emails_age on emails (created_at);
create index emails_workspace on emails (workspace_id);

-- When the views of an hour are unusual, and the alerts about it.
create table site_alert_rules (
    site_id      uuid primary key references sites on delete cascade,
    enabled      boolean not null,
    spike_factor double precision not null check (spike_factor between 1.5 and 100),
    drop_share   double precision not null check (drop_share between 0 and 0.9),
    min_views    bigint not null check (min_views between 1 and 1000000000)
);
create table site_alerts (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    site_id      uuid not null references sites on delete cascade,
    kind         text not null check (kind in ('spike', 'drop')),
    hour         timestamptz not null,
    views        bigint not null,
    usual        bigint not null,
    created_at   timestamptz not null default clock_timestamp()
);
create index site_alerts_page on site_alerts (site_id, hour desc);
create index site_alerts_workspace on site_alerts (workspace_id);

-- +goose Down
drop aggregate sum_counts(bigint[]);
drop function add_counts;
drop table stats_imports, site_events, site_article_days, site_article_cursors, site_articles, site_alerts,
  site_alert_rules, emails, report_subscriptions, shared_links, view_engagement, site_engagement, link_engagement,
  links, view_erasures, view_checks, view_losses, view_batches, site_page_months_due, site_page_months,
    site_page_days, site_dimension_days, site_days, site_hours, view_uniques, view_filtered, view_dimensions,
    view_days_due, view_hours_due, view_months, view_days, view_hours, view_pages, site_changes, sites;
drop function site_changed;
drop type view_kind;
