-- +goose Up
-- What editors marked as part of the text of articles or not (pipeline.Mark), the newest first.
alter table site_monitors add column marks jsonb not null default '[]';

-- +goose Down
alter table site_monitors drop column marks;
