-- +goose Up

-- Web sites whose pages are counted. What they have counted is in Redis and in
-- the view_ tables, by the site's id.
create table sites (
    id              uuid primary key,
    workspace_id    uuid not null references workspaces on delete cascade,
    name            text not null check (name <> '' and length(name) <= 200),
    domains         text[] not null check (cardinality(domains) <= 50), -- hosts, in lower case; with all below them
    time_zone       text not null check (time_zone <> ''),
    window_seconds  int not null check (window_seconds between 60 and 86400),
    uniques         text not null check (uniques in ('set', 'set_per_day', 'hyperloglog', 'bitmap')),
    max_id          bigint not null check (max_id between 0 and 4294967295),
    rate_hits       int not null check (rate_hits between 1 and 100000),
    rate_seconds    int not null check (rate_seconds between 1 and 3600),
    visitors        text not null check (visitors in ('cookie', 'cookieless')),
    weekly_uniques  boolean not null,
    public_counts   boolean not null,
    write_key       text not null unique,                               -- stands in the pages; no secret
    secret_hash     bytea not null check (length(secret_hash) = 32),
    visitor_key     bytea not null,                                     -- sealed; logins are hashed with it
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    check (uniques <> 'bitmap' or max_id > 0)
);
create index sites_workspace on sites (workspace_id, created_at, id);

-- Counts the changes, so that processes know when to read the sites anew.
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
create trigger sites_changed after insert or update or delete or truncate on sites for each statement execute function site_changed();

-- +goose Down
drop table sites, site_changes;
drop function site_changed;
