-- name: InsertPosts :exec
-- InsertPost for many. An empty text, a zero or the nil id is null.
insert into scheduled_posts (
    post_id, workspace_id, user_id, content, scheduled_time, time_zone, status,
    attachment_ids, attachment_urls, thread, options, late_limit_minutes, thread_id, thread_parent_id, language,
      link_base,
    approval, submitted_by, submitted_at
)
select w.post_id, @workspace_id, @user_id, w.content, nullif(w.scheduled_time, '')::timestamptz, w.time_zone,
  w.status::post_status,
    array(select jsonb_array_elements_text(w.attachment_ids::jsonb)::uuid),
      array(select jsonb_array_elements_text(w.attachment_urls::jsonb)),
    w.thread::jsonb, w.options::jsonb, nullif(w.late_limit_minutes, 0),
    nullif(w.thread_id, '00000000-0000-0000-0000-000000000000'),
      nullif(w.thread_parent_id, '00000000-0000-0000-0000-000000000000'), w.language, nullif(w.link_base, ''),
    w.approval::approval_state, case when w.approval = 'pending' then @user_id::uuid end,
      case when w.approval = 'pending' then clock_timestamp() end
from (
    select unnest(@post_ids::uuid[]) as post_id, unnest(@contents::text[]) as content, unnest(@scheduled_times::text[])
      as scheduled_time,
        unnest(@time_zones::text[]) as time_zone, unnest(@statuses::text[]) as status, unnest(@attachment_ids::text[])
          as attachment_ids,
        unnest(@attachment_urls::text[]) as attachment_urls, unnest(@threads::text[]) as thread,
          unnest(@options::text[]) as options, unnest(@late_limits::int[]) as late_limit_minutes,
        unnest(@thread_ids::uuid[]) as thread_id, unnest(@thread_parent_ids::uuid[]) as thread_parent_id,
          unnest(@languages::text[]) as language,
        unnest(@link_bases::text[]) as link_base, unnest(@approvals::text[]) as approval
) w;

-- name: InsertTargetsOfPosts :exec
insert into post_targets (id, post_id, account_id, override, fingerprint)
select unnest(@ids::uuid[]), unnest(@post_ids::uuid[]), unnest(@account_ids::uuid[]),
  nullif(unnest(@overrides::text[]), '')::jsonb,
    nullif(unnest(@fingerprints::bytea[]), '');

-- name: InsertEventsOfPosts :exec
insert into post_events (post_id, workspace_id, type, actor, data)
select unnest(@post_ids::uuid[]), @workspace_id, unnest(@types::text[]), @actor, unnest(@data::text[])::jsonb;

-- name: PostsInWorkspace :many
select * from scheduled_posts where workspace_id = @workspace_id and post_id = any(@post_ids::uuid[]);

-- name: InsertBulkAnswer :exec
insert into bulk_answers (id, answer) values (@id, @answer);

-- name: GetBulkAnswer :one
select answer from bulk_answers where id = @id;

-- name: DeleteOldBulkAnswers :execrows
delete from bulk_answers where created_at < now() - interval '8 days';
