-- +goose Up
-- What was removed from a file when it was stored.
alter table media add column metadata_removed text[] not null default '{}';

-- Creator, credit line and copyright notice of images stay in the files.
alter table workspaces add column keep_media_credit boolean not null default false;

-- +goose Down
alter table workspaces drop column keep_media_credit;
alter table media drop column metadata_removed;
