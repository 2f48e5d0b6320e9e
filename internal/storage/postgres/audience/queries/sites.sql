-- name: InsertSite :one
insert into sites (id, workspace_id, name, domains, time_zone, window_seconds, unique_method, max_id, rate_hits,
  rate_seconds,
    visitors, weekly_uniques, public_counts, events, goals, write_key, secret_hash, visitor_key)
select @id, @workspace_id, @name, @domains::text[], @time_zone, @window_seconds, @unique_method, @max_id, @rate_hits,
  @rate_seconds,
    @visitors, @weekly_uniques, @public_counts, @events::jsonb, @goals::jsonb, @write_key, @secret_hash, @visitor_key
where (select count(*) from sites s where s.workspace_id = @workspace_id) < @max_sites::int
returning *;

-- name: ListSites :many
select * from sites where workspace_id = @workspace_id order by created_at, id;

-- name: GetSite :one
select * from sites where id = @id and workspace_id = @workspace_id;

-- name: LockSite :one
select * from sites where id = @id and workspace_id = @workspace_id for update;

-- name: UpdateSite :one
update sites set name = @name, domains = @domains::text[], window_seconds = @window_seconds, max_id = @max_id,
    rate_hits = @rate_hits, rate_seconds = @rate_seconds, visitors = @visitors, weekly_uniques = @weekly_uniques,
    public_counts = @public_counts, events = @events::jsonb, goals = @goals::jsonb, secret_hash = @secret_hash,
      updated_at = clock_timestamp()
where id = @id
returning *;

-- name: DeleteSite :exec
delete from sites where id = @id;

-- name: AllSites :many
select * from sites order by id;

-- name: SitesVersion :one
select version from site_changes;
