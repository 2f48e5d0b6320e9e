-- +goose Up

-- A page that is not there any more takes its article out of the search, and
-- nothing else: text and versions stay.
alter table articles
    add column gone_at  timestamptz, -- since when its page answers that it is gone, or leads elsewhere
    add column moved_to uuid;        -- names the page that it leads to (urls.id)
create index articles_gone on articles (dated_at desc, id desc) where gone_at is not null;
create index articles_moved on articles (domain_id, moved_to) where moved_to is not null;

-- The reader of pages is told of that in the order in which it happened.
alter table crawled_pages
    add column gone     boolean not null default false,
    add column moved_to uuid;                     -- the page of the site that it leads to

-- What is told of how fresh the search is, is told of new articles alone.
alter table article_changes add column first boolean not null default false;

-- +goose Down
delete from crawled_pages where gone;
alter table article_changes drop column first;
alter table crawled_pages drop column gone, drop column moved_to;
drop index articles_gone, articles_moved;
alter table articles drop column gone_at, drop column moved_to;
