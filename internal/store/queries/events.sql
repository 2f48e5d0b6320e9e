-- name: InsertEvent :one
insert into post_events (post_id, workspace_id, target_id, type, actor, data)
values (@post_id, @workspace_id, sqlc.narg('target_id'), @type, @actor, @data)
returning id;

-- name: EventsAfter :many
select * from post_events
where post_id = @post_id and id > @after_id
order by id limit @page_size;
