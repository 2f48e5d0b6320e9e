-- name: ListSnippets :many
select * from snippets where workspace_id = @workspace_id order by kind, lower(name), id;

-- name: InsertSnippet :one
-- No row: the workspace has as many snippets as it may have.
insert into snippets (id, workspace_id, kind, name, text, template)
select @id, @workspace_id, @kind, @name, @text, sqlc.narg('template')::jsonb
where (select count(*) from snippets where workspace_id = @workspace_id) < @max_snippets::int
returning *;

-- name: UpdateSnippet :one
update snippets set name = @name, text = @text, template = sqlc.narg('template')::jsonb, updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id
returning *;

-- name: DeleteSnippet :execrows
delete from snippets where id = @id and workspace_id = @workspace_id;
