-- +goose Up

-- The index of the search on Postgres (internal/search/pgsearch): made from
-- articles, and made anew from them at any time. Rows are thin, because a search
-- looks at thousands of them: the words of the whole text lie apart and not
-- compressed, what is shown lies in another table.
create table search_documents (
    id           uuid primary key,               -- of the article
    version      bigint not null,                -- of the article; an older one replaces nothing
    published_at timestamptz not null,
    indexed_at   timestamptz not null default clock_timestamp(),
    domain       text not null,
    language     text not null,
    section      text not null,
    tags         text[] not null,
    authors      text[] not null,
    keys         text[] not null,                -- section, tags and authors as they are compared
    head         tsvector not null,              -- title (A), lead and tags (B), authors and section (C)
    words        tsvector not null               -- and the body (D)
) with (toast_tuple_target = 256);
alter table search_documents
    alter column domain set storage main, alter column language set storage main, alter column section set storage main,
    alter column tags set storage main, alter column authors set storage main, alter column keys set storage main,
    alter column head set storage main, alter column words set storage external;
-- A short list of what is not sorted in yet: each search reads it through.
create index search_documents_words on search_documents using gin (words) with (gin_pending_list_limit = 512);
create index search_documents_head on search_documents using gin (head) with (gin_pending_list_limit = 512);
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

-- The words that articles have, to find those near to one that none has.
create table search_words (
    word  text primary key,
    grams text[] not null                        -- its parts of three letters
);
create index search_words_grams on search_words using gin (grams) with (gin_pending_list_limit = 512);

-- What articles mean. The signs of a vector's numbers are compared first, all
-- at once; the vectors themselves only of what that finds.
create table search_vectors (
    id     uuid primary key references search_documents on delete cascade,
    source uuid not null,                        -- names the model and the text that it was made of
    signs  bit varying not null,
    vector real[] not null
);
alter table search_vectors alter column vector set storage external;

-- An index that is being built anew beside the one that answers: what changes
-- meanwhile is written to both.
create table search_rebuild (
    one        boolean primary key default true check (one),
    name       text not null,
    started_at timestamptz not null default clock_timestamp()
);

-- A search that somebody keeps: as a feed, and to be told of new articles.
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
    alert_since  timestamptz not null default clock_timestamp(), -- articles that were found before are not told of
    feed_hash    bytea,                          -- SHA-256 of the feed's token; null: there is no feed
    version      bigint not null default 1,
    created_at   timestamptz not null default clock_timestamp(),
    updated_at   timestamptz not null default clock_timestamp()
);
create index saved_searches_workspace on saved_searches (workspace_id, id);
create index saved_searches_alert on saved_searches (id) where alert;

-- What was told already. Rows go with their article's id: nothing is told twice,
-- however often an article is indexed.
create table saved_search_matches (
    search_id  uuid not null references saved_searches on delete cascade,
    article_id uuid not null,
    at         timestamptz not null default clock_timestamp(),
    primary key (search_id, article_id)
);

-- Webhooks tell of what was found; see DueEvents.
drop index post_events_outcomes;
create index post_events_outcomes on post_events (tx, id)
    where type in ('posted', 'failed', 'uncertain', 'late', 'needs_reconnect', 'expiring', 'submitted', 'approved', 'rejected',
        'selectors_learned', 'selectors_rolled_back', 'selectors_failed', 'article_matched');

-- +goose Down
delete from post_events where type = 'article_matched';
drop index post_events_outcomes;
create index post_events_outcomes on post_events (tx, id)
    where type in ('posted', 'failed', 'uncertain', 'late', 'needs_reconnect', 'expiring', 'submitted', 'approved', 'rejected',
        'selectors_learned', 'selectors_rolled_back', 'selectors_failed');
drop table saved_search_matches, saved_searches, search_rebuild, search_vectors, search_words, search_texts, search_documents;
