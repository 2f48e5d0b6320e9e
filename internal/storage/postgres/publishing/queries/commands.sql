-- name: RecordCommand :execrows
insert into post_commands (post_id, key, code, reason) values (@post_id, @key, @code, @reason) on conflict do nothing;

-- name: FindCommand :one
select code, reason from post_commands where post_id = @post_id and key = @key;
