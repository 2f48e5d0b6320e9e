-- +goose Up

-- Pages of this domain are shown by a browser before they are stored: their text
-- is made by scripts.
alter table crawl_domains add column render boolean not null default false;

-- What a page with parameters in its URL calls itself; empty: nothing. With the
-- hash of its text it tells which parameters matter.
alter table urls add column canonical text not null default '';
create index urls_parameters on urls (domain_id, found_at) where kind = 'article' and state = 'kept' and position('?' in url) > 0;

-- Why the last fetch of a page came to nothing, for people; empty: it did not.
alter table urls add column problem text not null default '';
create index urls_problems on urls (domain_id, last_crawl) where problem <> '';

-- +goose Down
drop index urls_problems;
alter table urls drop column problem;
drop index urls_parameters;
alter table urls drop column canonical;
alter table crawl_domains drop column render;
