-- +goose Up

-- Records that could not be read when a batch was applied, and are counted when
-- they are replayed. What is not among them was counted with its batch.
alter table view_batches add column left_out uuid[] not null default '{}';

-- +goose Down
alter table view_batches drop column left_out;
