-- +goose Up

-- Posts that a network's listing cannot tell apart, so that lost answers are
-- matched with what is listed one to one. A hash of the text, the number of
-- attachments and the reply target.
alter table operations add column content_key bytea;

-- +goose Down
alter table operations drop column content_key;
