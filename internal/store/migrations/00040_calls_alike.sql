-- Posts that a network's listing cannot tell apart, so that lost answers are
-- matched with what is listed one to one.

-- +goose Up
alter table operations add column content_key bytea;  -- of text, number of attachments and reply target
create index operations_alike on operations (content_key) where state in ('sending', 'ambiguous', 'manual');

-- +goose Down
drop index operations_alike;
alter table operations drop column content_key;
