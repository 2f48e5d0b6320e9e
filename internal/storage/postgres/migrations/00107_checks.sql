-- +goose Up
-- The checks of 00106, in a transaction that blocks no writers.
alter table media validate constraint media_kind_check;
alter table post_targets validate constraint post_targets_listed;
alter table post_targets alter column listed_at set not null;
alter table post_targets drop constraint post_targets_listed;

-- +goose Down
alter table media drop constraint media_kind_check,
    add constraint media_kind_check check (kind in ('image', 'animation', 'video', 'document')) not valid;
alter table post_targets alter column listed_at drop not null;
alter table post_targets add constraint post_targets_listed check (listed_at is not null) not valid;
