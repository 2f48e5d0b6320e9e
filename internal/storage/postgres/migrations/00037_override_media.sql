-- +goose Up

-- An override without media was stored as null, which is read as "the media of
-- the post". Only a list that had been sent empty was stored like that.
update post_targets set override = jsonb_set(override, '{attachment_ids}', '[]'), updated_at = clock_timestamp()
where override -> 'attachment_ids' = 'null';

-- +goose Down
select 1;
