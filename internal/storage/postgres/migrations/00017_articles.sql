-- +goose Up

-- What was read from the pages of a site. Shared by all workspaces, like
-- crawl_domains: a workspace sees the articles of domains on which it has seeds.
create table articles (
    id               uuid primary key,           -- version 7
    domain_id        integer not null references crawl_domains,
    url_id           uuid not null,              -- names the canonical URL as urls.id names one
    page_id          uuid not null,              -- urls.id of the page that it was read from
    url              text not null,              -- of that page
    canonical_url    text not null,
    title            text not null,
    authors          text[] not null default '{}',
    published_at     timestamptz,
    modified_at      timestamptz,
    date_only        boolean not null default false, -- no time of day of the publication is known
    first_seen_at    timestamptz not null,       -- when the crawler found the page's URL
    dated_at         timestamptz not null generated always as (coalesce(published_at, first_seen_at)) stored,
    lead             text not null default '',
    body_text        text not null,              -- paragraphs with an empty line between them
    body_html        text not null,              -- the same, sanitised
    image_url        text not null default '',
    section          text not null default '',
    tags             text[] not null default '{}',
    language         text not null default '',   -- ISO 639-1; empty: not known
    site_name        text not null default '',
    origins          jsonb not null default '{}', -- field to where it came from and how sure that is
    content_hash     text not null,              -- SHA-256 of title and text in normal form
    simhash          bigint not null default 0,  -- of the text; 0: it is too short to have one
    group_id         uuid not null,              -- the same for near-duplicates across sites; its own id when it is alone
    object_key       text not null,              -- the raw page in the object store
    fetched_at       timestamptz not null,       -- of that page
    selector_version integer not null default 0, -- the site's selectors that read it; 0: none
    version          bigint not null default 1,  -- grows when something changes that a reader can tell
    updated_at       timestamptz not null default clock_timestamp(),
    unique (domain_id, url_id)
);
create index articles_domain_time on articles (domain_id, dated_at desc, id desc);
create index articles_time on articles (dated_at desc, id desc);
create index articles_group on articles (group_id, dated_at);
create index articles_page on articles (domain_id, page_id);
create index articles_fetched on articles (domain_id, fetched_at desc);
-- Of two SimHashes that differ in at most three bits, one of the four parts of
-- 16 bits is equal: what is near is found by four probes (internal/crawl/change).
create index articles_simhash_0 on articles ((simhash & 65535)) where simhash <> 0;
create index articles_simhash_1 on articles (((simhash >> 16) & 65535)) where simhash <> 0;
create index articles_simhash_2 on articles (((simhash >> 32) & 65535)) where simhash <> 0;
create index articles_simhash_3 on articles (((simhash >> 48) & 65535)) where simhash <> 0;

-- Every version of an article, the first and the newest too.
create table article_revisions (
    article_id       uuid not null references articles on delete cascade,
    version          bigint not null,
    seen_at          timestamptz not null,       -- when its page was fetched
    changed          text[] not null default '{}', -- fields that differ from the version before; none: the first
    title            text not null,
    authors          text[] not null,
    published_at     timestamptz,
    modified_at      timestamptz,
    lead             text not null,
    body_text        text not null,
    image_url        text not null,
    section          text not null,
    tags             text[] not null,
    content_hash     text not null,
    object_key       text not null,
    selector_version integer not null,
    primary key (article_id, version)
);

-- What the index of the search has not taken in yet; written in the transaction
-- that changes the article, and deleted when the index has it. Rows of one
-- article may be read in any order: what counts is the article as it is when the
-- row is read, and one that is gone is to be deleted from the index.
create type change_kind as enum ('upsert', 'delete');
create table article_changes (
    id          bigint generated always as identity primary key,
    article_id  uuid not null,
    kind        change_kind not null,
    changed_at  timestamptz not null default clock_timestamp(),
    tries       integer not null default 0,
    taken_until timestamptz not null default '-infinity'
);
create index article_changes_open on article_changes (taken_until, id);

create type selector_maker as enum ('learned', 'person', 'model');
create type selector_state as enum ('candidate', 'active', 'retired', 'rolled_back');

-- How the pages of a site are read, one row for each version (selector.Config).
create table site_selectors (
    domain_id    integer not null references crawl_domains,
    version      integer not null check (version > 0),
    config       jsonb not null,
    made_by      selector_maker not null,
    maker        text not null default '',           -- user:<id> of a person
    state        selector_state not null default 'candidate',
    reason       text not null default '',           -- why it was made
    ended        text not null default '',           -- why it is not in use any more
    scores       jsonb not null default '{}',        -- field to what validation gave, from 0 to 1
    pages        integer not null default 0,         -- that it was learned from
    created_at   timestamptz not null default clock_timestamp(),
    activated_at timestamptz,
    ended_at     timestamptz,
    primary key (domain_id, version)
);
create unique index site_selectors_active on site_selectors (domain_id) where state = 'active';

create type selector_wish as enum ('none', 'learn', 'roll_back');

-- How well the selectors of a site do (selector.Monitor), and what is to be done.
create table site_monitors (
    domain_id       integer primary key references crawl_domains,
    monitor         jsonb not null default '{}',
    zone            text not null default '',        -- of the site's dates; empty: that of its country
    learning        boolean not null default true,   -- selectors may be learned
    wish            selector_wish not null default 'none',
    wish_field      text not null default '',
    wish_why        text not null default '',
    wish_at         timestamptz,
    pages           bigint not null default 0,       -- that were read
    articles        bigint not null default 0,       -- that gave an article
    others          bigint not null default 0,       -- that are none
    failed          bigint not null default 0,       -- that could not be read
    last_problem    text not null default '',
    last_problem_at timestamptz,
    updated_at      timestamptz not null default clock_timestamp()
);
create index site_monitors_wish on site_monitors (wish_at) where wish <> 'none';

-- Tokens of the language model that were used in a day.
create table model_usage (
    day    date primary key,
    tokens bigint not null
);

-- Webhooks tell of selectors; see DueEvents.
drop index post_events_outcomes;
create index post_events_outcomes on post_events (tx, id)
    where type in ('posted', 'failed', 'uncertain', 'late', 'needs_reconnect', 'expiring', 'submitted', 'approved', 'rejected',
        'selectors_learned', 'selectors_rolled_back', 'selectors_failed');

-- +goose Down
delete from post_events where type in ('selectors_learned', 'selectors_rolled_back', 'selectors_failed');
drop index post_events_outcomes;
create index post_events_outcomes on post_events (tx, id)
    where type in ('posted', 'failed', 'uncertain', 'late', 'needs_reconnect', 'expiring', 'submitted', 'approved', 'rejected');
drop table model_usage, site_monitors, site_selectors, article_changes, article_revisions, articles;
drop type selector_wish, selector_state, selector_maker, change_kind;
