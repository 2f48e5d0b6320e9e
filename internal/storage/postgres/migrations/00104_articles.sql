-- +goose Up
create type article_access as enum ('free', 'metered', 'paid', 'unknown');

-- Extracted articles, shared by all workspaces like crawl_domains: a workspace
-- sees the articles of domains on which it has seeds.
create table articles (
    id               uuid primary key,           -- version 7
    domain_id        integer not null references crawl_domains,
    url_id           uuid not null,              -- id of the canonical URL, computed like urls.id
    page_id          uuid not null,              -- urls.id of the page that it was extracted from
    url              text not null,              -- of that page
    canonical_url    text not null,
    title            text not null,
    authors          text[] not null default '{}',
    published_at     timestamptz,
    modified_at      timestamptz,
    date_only        boolean not null default false, -- published_at has no time of day
    first_seen_at    timestamptz not null,       -- when the crawler found the page's URL
    dated_at         timestamptz not null generated always as (coalesce(published_at, first_seen_at)) stored,
    lead             text not null default '',
    body_text        text not null,              -- paragraphs separated by an empty line
    body_html        text not null,              -- the same, sanitized
    image_url        text not null default '',
    section          text not null default '',
    tags             text[] not null default '{}',
    language         text not null default '',   -- ISO 639-1; empty: unknown
    site_name        text not null default '',
    access           article_access not null default 'unknown', -- whether readers must pay, as the page states
    noindex          boolean not null default false, -- robots directives of the page: not in search
    noarchive        boolean not null default false, -- the raw page is not given out
    nosnippet        boolean not null default false, -- search shows the title only
    noai             boolean not null default false, -- no embeddings
    -- text and data mining is reserved: search by title only, no embeddings
    tdm_reserved     boolean not null default false,
    tdm_policy       text not null default '',   -- URL of its conditions
    origins          jsonb not null default '{}', -- field to its source and confidence
    content_hash     text not null,              -- SHA-256 of the normalized title and text
    simhash          bigint not null default 0,  -- of the text; 0: too short for one
    group_id         uuid not null,              -- shared by near-duplicates across sites; its own id when it has none
    object_key       text not null,              -- the raw page in the object store
    fetched_at       timestamptz not null,       -- of that page
    selector_version integer not null default 0, -- the selectors that extracted it; 0: generic extraction
    version          bigint not null default 1,  -- incremented by every visible change
    updated_at       timestamptz not null default clock_timestamp(),
    -- since when its page is removed or redirects elsewhere; removed from search only
    removed_at       timestamptz,
    moved_to         uuid,                       -- the page that it redirects to (urls.id)
    unique (domain_id, url_id)
);
create index articles_domain_time on articles (domain_id, dated_at desc, id desc);
create index articles_time on articles (dated_at desc, id desc);
create index articles_group on articles (group_id, dated_at);
create index articles_page on articles (domain_id, page_id);
create index articles_fetched on articles (domain_id, fetched_at desc);
create index articles_updated on articles (domain_id, updated_at);
create index articles_removed on articles (dated_at desc, id desc) where removed_at is not null;
create index articles_moved on articles (domain_id, moved_to) where moved_to is not null;
-- Two SimHashes that differ in at most three bits agree in one of their four
-- 16-bit parts, so four index lookups find all candidates (internal/news/crawl/change).
create index articles_simhash_0 on articles ((simhash & 65535)) where simhash <> 0;
create index articles_simhash_1 on articles (((simhash >> 16) & 65535)) where simhash <> 0;
create index articles_simhash_2 on articles (((simhash >> 32) & 65535)) where simhash <> 0;
create index articles_simhash_3 on articles (((simhash >> 48) & 65535)) where simhash <> 0;

-- All versions of an article, including the first and the newest.
create table article_revisions (
    article_id       uuid not null references articles on delete cascade,
    version          bigint not null,
    seen_at          timestamptz not null,       -- when its page was fetched
    changed          text[] not null default '{}', -- fields that differ from the previous version; none: the first
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

-- The outbox of the search index: written in the transaction that changes the
-- article, deleted when the index has the change. Rows of one article may be
-- processed in any order: the indexer reads the article as it is then, and
-- deletes it from the index when the article is deleted.
create type change_kind as enum ('upsert', 'delete');
create table article_changes (
    id           bigint generated always as identity primary key,
    article_id   uuid not null,
    kind         change_kind not null,
    changed_at   timestamptz not null default clock_timestamp(),
    attempts     integer not null default 0,
    leased_until timestamptz not null default '-infinity',
    first        boolean not null default false   -- the article is new; only these count for search freshness
);
create index article_changes_open on article_changes (leased_until, id);

create type selector_creator as enum ('learner', 'member', 'llm');
create type selector_state as enum ('candidate', 'active', 'retired', 'rolled_back');

-- Selectors of a site, one row for each version (selector.Config).
create table site_selectors (
    domain_id    integer not null references crawl_domains,
    version      integer not null check (version > 0),
    config       jsonb not null,
    created_by   selector_creator not null,
    actor        text not null default '',           -- user:<id>
    state        selector_state not null default 'candidate',
    reason       jsonb,                              -- why it was created: message.Message
    end_reason   jsonb,                              -- why it was deactivated: message.Message
    scores       jsonb not null default '{}',        -- field to validation score, 0 to 1
    pages        integer not null default 0,         -- pages it was learned from
    created_at   timestamptz not null default clock_timestamp(),
    activated_at timestamptz,
    ended_at     timestamptz,
    primary key (domain_id, version)
);
create unique index site_selectors_active on site_selectors (domain_id) where state = 'active';

create type selector_action as enum ('none', 'learn', 'roll_back');

-- Health of a site's selectors (selector.Monitor) and the requested action.
create table site_monitors (
    domain_id           integer primary key references crawl_domains,
    monitor             jsonb not null default '{}',
    time_zone           text not null default '',        -- of the site's dates; empty: that of its country
    learning_enabled    boolean not null default true,   -- selectors may be learned
    requested_action    selector_action not null default 'none',
    action_field        text not null default '',        -- whose health caused the request
    action_reason       jsonb,                           -- message.Message
    action_requested_at timestamptz,
    pages               bigint not null default 0,       -- processed
    articles            bigint not null default 0,       -- that are articles
    non_articles        bigint not null default 0,       -- that are not
    no_article_reasons  jsonb not null default '{}',     -- number of pages without an article by reason
    failed              bigint not null default 0,       -- that could not be processed
    last_error          text not null default '',
    last_error_at       timestamptz,
    updated_at          timestamptz not null default clock_timestamp()
);
create index site_monitors_action on site_monitors (action_requested_at) where requested_action <> 'none';

-- Pages that were fetched but contain no article, until one is found on them.
create table pages_without_article (
    domain_id  integer not null references crawl_domains,
    url_id     uuid not null,
    url        text not null,
    fetched_at timestamptz not null,
    reason     text not null,                    -- a code (pipeline.NoArticleReason)
    detail     text not null,                    -- the reason in words
    primary key (domain_id, url_id)
);
create index pages_without_article_time on pages_without_article (domain_id, fetched_at desc);

-- Daily token usage of the language model.
create table llm_usage (
    day    date primary key,
    tokens bigint not null
);

-- The search index on Postgres (internal/news/search/pgsearch), derived from
-- articles and rebuilt from them at any time. Rows are narrow because a search
-- reads thousands of them: the words of the whole text are stored out of line and
-- uncompressed, and what is displayed is in another table.
create table search_documents (
    id           uuid primary key,               -- of the article
    version      bigint not null,                -- of the article; older versions are ignored
    published_at timestamptz not null,
    indexed_at   timestamptz not null default clock_timestamp(),
    domain       text not null,
    language     text not null,
    section      text not null,
    tags         text[] not null,
    authors      text[] not null,
    keys         text[] not null,                -- folded section, tags and authors
    embeddable   boolean not null default true,  -- the publisher does not forbid an embedding
    title_words  tsvector not null,              -- title (A), lead and tags (B), authors and section (C)
    -- title_words, body (D), word pairs for phrases, and time buckets of the publication
    words        tsvector not null
) with (toast_tuple_target = 256);
alter table search_documents
    alter column domain set storage main, alter column language set storage main, alter column section set storage main,
    alter column tags set storage main, alter column authors set storage main, alter column keys set storage main,
    alter column title_words set storage main, alter column words set storage external;
-- Most words in Postgres' statistics are stop words, so more of them are kept.
alter table search_documents alter column words set statistics 300;
-- A short pending list: every search scans it.
create index search_documents_words on search_documents using gin (words) with (gin_pending_list_limit = 512);
create index search_documents_title_words
  on search_documents using gin (title_words) with (gin_pending_list_limit = 512);
create index search_documents_keys on search_documents using gin (keys) with (gin_pending_list_limit = 512);
create index search_documents_time on search_documents (published_at desc, id);
create index search_documents_domain on search_documents (domain, published_at desc);

create table search_texts (
    id        uuid primary key references search_documents on delete cascade,
    url       text not null,
    title     text not null,
    lead      text not null,
    body      text not null,
    image_url text not null,
    group_id  uuid not null
);

-- The vocabulary of all articles, for fuzzy matching.
create table search_words (
    word  text primary key,
    grams text[] not null                        -- trigrams
);
create index search_words_grams on search_words using gin (grams) with (gin_pending_list_limit = 512);

-- Embeddings. The signs of the vectors are compared first; full vectors only for
-- the candidates.
create table search_vectors (
    id     uuid primary key references search_documents on delete cascade,
    source uuid not null,                        -- identifies the embedding model and text
    signs  bit varying not null,
    vector real[] not null,
    changed_at timestamptz not null default clock_timestamp() -- processes keep the signs in memory and read changes
);
create index search_vectors_changed on search_vectors (changed_at);
alter table search_vectors alter column vector set storage external;

-- The index rebuild in progress, if any: changes are written to both indexes.
create table search_rebuild (
    singleton  boolean primary key default true check (singleton),
    name       text not null,
    started_at timestamptz not null default clock_timestamp()
);

-- Saved searches, available as a feed and with alerts for new articles.
create table saved_searches (
    id           uuid primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    user_id      uuid references users on delete set null,
    name         text not null check (length(name) between 1 and 200),
    query        text not null default '' check (length(query) <= 500),
    mode         text not null default 'keyword',
    domains      text[] not null default '{}',
    languages    text[] not null default '{}',
    sections     text[] not null default '{}',
    tags         text[] not null default '{}',
    authors      text[] not null default '{}',
    alert        boolean not null default false,
    alert_since  timestamptz not null default clock_timestamp(), -- earlier articles cause no alert
    feed_hash    bytea,                          -- SHA-256 of the feed's token; null: no feed
    version      bigint not null default 1,
    created_at   timestamptz not null default clock_timestamp(),
    updated_at   timestamptz not null default clock_timestamp()
);
create index saved_searches_workspace on saved_searches (workspace_id, id);
create index saved_searches_alert on saved_searches (id) where alert;

-- Alerts that were sent: an article causes one alert for each search, however
-- often it is indexed.
create table saved_search_matches (
    search_id  uuid not null references saved_searches on delete cascade,
    article_id uuid not null,
    alerted_at timestamptz not null default clock_timestamp(),
    primary key (search_id, article_id)
);

-- Regions of pages that are watched for changes (internal/news/watch).
create table watches (
    id               uuid primary key,
    workspace_id     uuid not null references workspaces on delete cascade,
    user_id          uuid references users on delete set null,
    name             text not null check (length(name) between 1 and 200),
    url              text not null check (length(url) between 1 and 2000),
    selector         text not null default '' check (length(selector) <= 500), -- CSS; empty: the whole page
    interval_minutes int not null check (interval_minutes > 0),
    paused           boolean not null default false,
    lines            text[],                     -- of the region's text; null: not read yet
    etag             text not null default '',
    last_modified    text not null default '',
    problem          text not null default '',   -- of the last check; empty: none
    failures         int not null default 0,     -- in a row
    due_at           timestamptz not null default clock_timestamp(),
    claim            uuid,                       -- of the check in progress
    checked_at       timestamptz,
    changed_at       timestamptz,
    version          bigint not null default 1,
    created_at       timestamptz not null default clock_timestamp(),
    updated_at       timestamptz not null default clock_timestamp()
);
create index watches_workspace on watches (workspace_id, id);
create index watches_due on watches (due_at) where not paused;

create table watch_changes (
    id       uuid primary key,
    watch_id uuid not null references watches on delete cascade,
    added    text[] not null,                    -- lines
    removed  text[] not null,
    found_at timestamptz not null default clock_timestamp()
);
create index watch_changes_watch on watch_changes (watch_id, id);

-- Stories: articles that report the same event (internal/news/story), shared by all
-- workspaces like articles. A group of near-duplicates (articles.group_id) counts as one
-- document of its story.
create table stories (
    id               uuid primary key,           -- version 7: of two merged stories, the lower id survives
    language         text not null,
    merged_into      uuid references stories,    -- requests for this story are redirected
    centroid_terms   bigint[] not null default '{}', -- hashed words, see story.Term
    centroid_weights real[] not null default '{}',
    documents        integer not null default 0, -- in the centroid
    articles         integer not null default 0, -- with near-duplicates
    first_at         timestamptz not null default 'epoch', -- articles.dated_at of the earliest and the latest article
    last_at          timestamptz not null default 'epoch',
    follows_id       uuid,                       -- the earlier story that it follows up
    follows_similarity real not null default 0,
    headline_article uuid,                       -- chosen by an editor
    review_at        timestamptz,                -- when it is to be merged or split; null: after its next change
    created_at       timestamptz not null default clock_timestamp(),
    updated_at       timestamptz not null default clock_timestamp()
);
create index stories_time on stories (last_at desc, id desc) where merged_into is null and articles > 1;
create index stories_review on stories (review_at) where review_at is not null;
create index stories_updated on stories (updated_at) where merged_into is null and documents > 1;
create index stories_empty on stories (updated_at) where merged_into is null and articles = 0;
create index stories_follows on stories (follows_id) where follows_id is not null;
create index stories_merged on stories (merged_into) where merged_into is not null;

create table story_articles (
    article_id      uuid primary key,            -- deleted articles are removed by the placer
    story_id        uuid not null references stories,
    group_id        uuid not null,               -- articles.group_id
    domain_id       integer not null,
    is_document     boolean not null,            -- in the centroid; the others are near-duplicates of such an article
    similarity      real not null,               -- with the story
    dated_at        timestamptz not null,        -- articles.dated_at, but not in the future
    article_version bigint not null,
    pinned_by       text not null default '',    -- user:<id>: merges and splits leave it where it is
    placed_at       timestamptz not null default clock_timestamp()
);
create index story_articles_story on story_articles (story_id, dated_at);
create index story_articles_group on story_articles (group_id) where is_document;

-- The weighted terms of the documents of recent stories.
create table story_vectors (
    article_id uuid primary key references story_articles on delete cascade,
    terms      bigint[] not null,
    weights    real[] not null
);

-- The heaviest terms of recent stories, by which the candidates for an article are found.
create table story_terms (
    language text not null,
    term     bigint not null,
    story_id uuid not null references stories on delete cascade,
    primary key (language, term, story_id)
);
create index story_terms_story on story_terms (story_id);

-- The number of documents with a term. The term 0 counts all documents.
create table term_counts (
    language  text not null,
    month     date not null,
    term      bigint not null,
    documents integer not null,
    primary key (language, month, term)
) with (fillfactor = 80);

create type story_event_kind as enum ('merged', 'split', 'moved', 'headline_pinned');

-- What was changed in stories after their articles were placed.
create table story_events (
    id          uuid primary key,
    language    text not null,
    kind        story_event_kind not null,
    story_id    uuid not null references stories,
    other_id    uuid references stories,         -- merged into story_id, or where the articles moved
    article_ids uuid[] not null default '{}',
    similarity  real not null default 0,
    actor       text not null,                   -- user:<id>, dateline
    at          timestamptz not null default clock_timestamp(),
    undone_at   timestamptz,
    undone_by   text not null default ''
);
create index story_events_story on story_events (story_id, at desc);
create index story_events_other on story_events (other_id, at desc) where other_id is not null;

-- Stored and changed articles that are to be placed in stories: written in the
-- transaction that changes the article, deleted in the one that places it.
create table story_queue (
    id         bigint generated always as identity primary key,
    language   text not null,
    article_id uuid not null,
    queued_at  timestamptz not null default clock_timestamp()
);
create index story_queue_language on story_queue (language, id);

-- The settings of workspaces about stories (story.Preferences).
create table story_preferences (
    workspace_id uuid primary key references workspaces on delete cascade,
    user_id      uuid not null references users, -- who stored them; drafts are theirs
    preferences  jsonb not null check (jsonb_typeof(preferences) = 'object'),
    version      bigint not null default 1,
    updated_at   timestamptz not null default clock_timestamp()
);

create type story_alert_state as enum ('waiting', 'sent', 'covered', 'muted');

-- Alerts that other sources have a story and the workspace does not: one for each story.
create table story_alerts (
    workspace_id uuid not null references workspaces on delete cascade,
    story_id     uuid not null references stories on delete cascade,
    state        story_alert_state not null default 'waiting',
    due_at       timestamptz not null,           -- when the own sites have been crawled again
    post_id      uuid not null,                  -- of the draft: retries create the same post
    has_draft    boolean not null default false,
    owners       integer not null default 0,     -- when it was sent
    created_at   timestamptz not null default clock_timestamp(),
    finished_at  timestamptz,
    primary key (workspace_id, story_id)
);
create index story_alerts_waiting on story_alerts (workspace_id, due_at) where state = 'waiting';
create index story_alerts_story on story_alerts (story_id);
create index story_alerts_post on story_alerts (post_id);

-- +goose Down
drop table story_alerts, story_preferences, story_queue, story_events, term_counts, story_terms, story_vectors,
  story_articles, stories,
    watch_changes, watches, saved_search_matches, saved_searches, search_rebuild, search_vectors, search_words,
      search_texts, search_documents,
    llm_usage, pages_without_article, site_monitors, site_selectors, article_changes, article_revisions, articles;
drop type story_alert_state, story_event_kind, selector_action, selector_state, selector_creator, change_kind,
  article_access;
