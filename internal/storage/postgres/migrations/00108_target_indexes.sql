-- +goose NO TRANSACTION
-- +goose Up
create index concurrently if not exists post_targets_page on post_targets (account_id, listed_at, post_id);
create index concurrently if not exists post_targets_attention
    on post_targets (updated_at) where status in ('failed', 'uncertain') or needs_review;
drop index concurrently if exists post_targets_dead;

-- +goose Down
create index concurrently post_targets_dead on post_targets (updated_at) where status in ('failed', 'uncertain');
drop index concurrently post_targets_attention;
drop index concurrently post_targets_page;
