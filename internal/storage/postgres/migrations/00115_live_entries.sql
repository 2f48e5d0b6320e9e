-- +goose Up
-- Entries of a live blog, the newest first (article.LiveEntry); body_text is its summary.
alter table articles add column live_entries jsonb not null default '[]';

-- +goose Down
alter table articles drop column live_entries;
