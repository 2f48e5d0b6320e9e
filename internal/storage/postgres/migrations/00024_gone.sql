-- +goose NO TRANSACTION

-- +goose Up

-- A page that is not there any more takes its article out of the search, and
-- nothing else: text and versions stay.
alter table articles
    add column if not exists gone_at  timestamptz, -- since when its page answers that it is gone, or leads elsewhere
    add column if not exists moved_to uuid;        -- names the page that it leads to (urls.id)
create index concurrently if not exists articles_gone on articles (dated_at desc, id desc) where gone_at is not null;
create index concurrently if not exists articles_moved on articles (domain_id, moved_to) where moved_to is not null;

-- The reader of pages is told of that in the order in which it happened.
alter table crawled_pages
    add column if not exists gone     boolean not null default false,
    add column if not exists moved_to uuid;        -- the page of the site that it leads to

-- How fresh the search is, is told of new articles alone.
alter table article_changes add column if not exists first boolean not null default false;

-- +goose Down
delete from crawled_pages where gone;
alter table article_changes drop column if exists first;
alter table crawled_pages drop column if exists gone, drop column if exists moved_to;
drop index if exists articles_gone, articles_moved;
alter table articles drop column if exists gone_at, drop column if exists moved_to;
