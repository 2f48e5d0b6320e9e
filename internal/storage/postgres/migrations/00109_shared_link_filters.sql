-- +goose Up
-- Fixed filters of a report as name:value; null: a build before this one made the link, with
-- filter_name and filter_value.
alter table shared_links add column filters text[];
alter table shared_links add constraint shared_links_filters check (cardinality(filters) <= 10) not valid;

-- +goose Down
alter table shared_links drop constraint shared_links_filters, drop column filters;
