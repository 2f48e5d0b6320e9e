-- +goose NO TRANSACTION
-- +goose Up
create index concurrently if not exists operations_alike on operations (content_key) where state in ('sending', 'ambiguous', 'manual');

-- +goose Down
drop index concurrently if exists operations_alike;
