-- +goose NO TRANSACTION
-- +goose Up
-- Queries for an account's posts use post_targets_page and post_targets_fingerprint. Without recent statistics the
-- planner took this index for them, and read all posts of the account. Every change of a status wrote to it.
drop index concurrently if exists post_targets_account;

-- +goose Down
create index concurrently post_targets_account on post_targets (account_id, status);
