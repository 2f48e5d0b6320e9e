-- +goose Up
-- Registered domains (news.example of www.news.example), shared by all
-- workspaces: a page is fetched once however many workspaces want it.
create table crawl_domains (
    id             integer generated always as identity primary key,
    domain         text not null unique check (length(domain) between 1 and 255),
    paused_at      timestamptz,
    pause_reason     text not null default '',
    -- incremented when the frontier is cleared; older cached state is invalid
    epoch          integer not null default 1,
    rules          jsonb not null default '{}',    -- significant URL parameters (weburl.Rules)
    score          real not null default 0.5,      -- how often its hubs had something new, 0 to 1
    response_ms    real not null default 0,        -- moving average
    crawl_delay_ms       integer not null default 0,     -- Crawl-delay of robots.txt; 0: none
    not_before     timestamptz,                    -- Retry-After of the server
    next_due       timestamptz,                    -- not later than the first due URL; null: none
    last_crawl     timestamptz,
    leased_until timestamptz,                    -- lease of the worker that crawls it
    budget_day     date,
    budget_used    integer not null default 0,
    fetched        bigint not null default 0,
    stored         bigint not null default 0,
    unchanged      bigint not null default 0,
    failed         bigint not null default 0,
    timeouts       bigint not null default 0,
    excluded       bigint not null default 0,      -- by robots.txt
    bytes          bigint not null default 0,
    created_at     timestamptz not null default now(),
    render         boolean not null default false  -- pages are rendered in a browser before they are stored
);
create index crawl_domains_due on crawl_domains (next_due) where paused_at is null and next_due is not null;

-- Request slots: when a domain (d:) or an IP address (i:, hashed) may be requested
-- next. A slot is taken before a request is sent, until the request would have
-- timed out, and is free again after the crawl delay once the response arrived.
create table crawl_slots (
    key     text primary key,
    next_at timestamptz not null,
    holder  uuid
) with (fillfactor = 50);

create type seed_status as enum ('active', 'paused');
create type url_kind as enum ('home', 'section', 'feed', 'sitemap', 'article');

-- Seeds: the sources of a workspace, where its crawl starts.
create table seeds (
    id            uuid primary key,
    number        integer not null generated always as identity unique, -- references the seed from urls
    workspace_id  uuid not null references workspaces on delete cascade,
    domain_id     integer not null references crawl_domains,
    url_id        uuid not null,
    url           text not null check (length(url) between 1 and 2048),
    kind          url_kind not null check (kind <> 'article'),
    title         text not null default '' check (length(title) <= 300),
    status        seed_status not null default 'active',
    priority      smallint not null default 50 check (priority between 0 and 100),
    min_interval_seconds   integer not null check (min_interval_seconds > 0),
    max_interval_seconds   integer not null check (max_interval_seconds >= min_interval_seconds),
    interval_seconds integer not null check (interval_seconds between min_interval_seconds and max_interval_seconds),
    allow         text[] not null default '{}',
    deny          text[] not null default '{}',
    max_depth     smallint not null check (max_depth between 0 and 10),
    daily_budget  integer not null check (daily_budget >= 0), -- pages per day; 0: the domain's limit
    budget_day    date,
    budget_used   integer not null default 0,
    next_crawl    timestamptz not null default now(),
    last_crawl    timestamptz,
    last_found    timestamptz,                     -- when something new was last found
    last_error  text not null default '',
    version       bigint not null default 1,
    created_at    timestamptz not null default now(),
    updated_at    timestamptz not null default now(),
    unique (workspace_id, url_id)
);
create index seeds_due on seeds (next_crawl) where status = 'active';
create index seeds_url on seeds (domain_id, url_id);

create type url_state as enum ('pending', 'stored', 'failed', 'dead', 'excluded');

-- The frontier, and the authority for which URLs are known. Rows are narrow and
-- partitioned by domain, because every query names the domain. due_at is when a
-- URL is fetched next; a lease moves it to the lease's end, so that the URLs of
-- a worker that died become due again by themselves.
create table urls (
    domain_id     integer not null,
    id            uuid not null,              -- first 128 bits of the SHA-256 of the canonical URL
    due_at        timestamptz,                -- null: never
    lease         uuid,
    found_at      timestamptz not null default clock_timestamp(),
    last_crawl    timestamptz,                -- set when it is leased
    changed_at    timestamptz,
    simhash       bigint,
    seed_number       integer,
    interval_seconds integer not null default 0, -- of hubs and refreshes
    rank          smallint not null,          -- lower goes first
    depth         smallint not null default 0,
    attempts         smallint not null default 0,
    last_status   smallint not null default 0,
    kind          url_kind not null,
    state         url_state not null default 'pending',
    url           text not null,
    etag          text not null default '',
    last_modified text not null default '',
    content_hash  text not null default '',   -- of hubs: of their set of links; of articles: of their text
    raw_hash      text not null default '',   -- SHA-256 of the newest version's bytes
    -- canonical URL that a page with parameters declares; with the text's hash it shows which
    -- parameters are significant
    canonical     text not null default '',
    last_error    text not null default '',   -- why the last fetch failed; empty: it did not
    primary key (domain_id, id)
) partition by hash (domain_id);

-- Fetched versions of pages. The object is pages/<domain>/<url>/<raw_hash>.zst.
create table page_versions (
    domain_id    integer not null,
    url_id       uuid not null,
    fetched_at   timestamptz not null,
    status       smallint not null,
    bytes        integer not null,
    stored_bytes integer not null,
    kind         url_kind not null,
    raw_hash     text not null,
    final_url    text not null,
    header       jsonb not null,              -- stored response headers
    primary key (domain_id, url_id, fetched_at)
) partition by hash (domain_id);

-- +goose StatementBegin
do $$
begin
    for i in 0..31 loop
        execute format('create table urls_%s partition of urls for values with (modulus 32, remainder %s) ' ||
            'with (fillfactor = 80)', i, i);
        execute format('create table page_versions_%s partition of page_versions ' ||
            'for values with (modulus 32, remainder %s)', i, i);
    end loop;
end $$;
-- +goose StatementEnd
create index urls_due on urls (domain_id, rank, due_at) where due_at is not null;
create index urls_parameters on urls (domain_id, found_at) where kind = 'article' and state = 'stored'
  and position('?' in url) > 0;
create index urls_errors on urls (domain_id, last_crawl) where last_error <> '';
create index page_versions_time on page_versions (domain_id, fetched_at);

-- Stored pages that are not extracted yet, in the order in which they were
-- stored. A row is deleted when its page is processed.
create table crawled_pages (
    id          bigint generated always as identity primary key,
    domain_id   integer not null,
    url_id      uuid not null,
    fetched_at  timestamptz not null,
    url         text not null,
    object_key  text not null,
    found_at    timestamptz not null,
    is_first_version boolean not null,        -- the page is new
    attempts       smallint not null default 0,
    leased_until timestamptz not null default '-infinity',
    removed     boolean not null default false, -- from its site
    moved_to    uuid                          -- the page of the same site that it redirects to
);
create index crawled_pages_queue on crawled_pages (leased_until, id);

-- Requested exports of crawled pages. Their progress is in the object store.
create table crawl_exports (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    domain       text not null,
    requested_at timestamptz not null default clock_timestamp()
);
create index crawl_exports_workspace on crawl_exports (workspace_id, domain);

-- +goose Down
drop table crawl_exports, crawled_pages, page_versions, urls, seeds, crawl_slots, crawl_domains;
drop type url_state, url_kind, seed_status;
