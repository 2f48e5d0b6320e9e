-- +goose NO TRANSACTION

-- +goose Up

-- What answers a post. A post that goes is looked for in this column (it refers to
-- posts), which read the whole table for each. An attempt that broke off leaves
-- an index that is of no use.
drop index concurrently if exists scheduled_posts_parent;
create index concurrently scheduled_posts_parent on scheduled_posts (thread_parent_id) where thread_parent_id is not null;

-- +goose Down
drop index concurrently if exists scheduled_posts_parent;
