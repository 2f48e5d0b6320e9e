-- name: InsertSharedLink :one
-- No row: the site has too many.
-- The version before reads filter_name and filter_value. It knows no filter called several, and refuses such a report.
insert into shared_links (id, workspace_id, site_id, name, filters, filter_name, filter_value, embed_origins, token_hash,
  password_hash, expires_at)
select @id, @workspace_id, @site_id, @name, @filters::text[], @filter_name, @filter_value, @embed_origins::text[], @token_hash,
  sqlc.narg('password_hash'), sqlc.narg('expires_at')
where (select count(*) from shared_links l where l.site_id = @site_id) < @max_links::int
returning *;

-- name: ListSharedLinks :many
select * from shared_links where workspace_id = @workspace_id and site_id = @site_id order by created_at, id;

-- name: DeleteSharedLink :one
delete from shared_links where id = @id and site_id = @site_id and workspace_id = @workspace_id returning name;

-- name: OpenSharedLink :one
select sqlc.embed(l), sqlc.embed(s) from shared_links l join sites s on s.id = l.site_id
where l.token_hash = @token_hash and (l.expires_at is null or l.expires_at > clock_timestamp());
