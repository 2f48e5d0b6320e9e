-- name: InsertPostLinks :execrows
-- A code is derived from post, account and URL, so an existing code is the same
-- link. A missing row means that a code is used by another link.
insert into links (code, workspace_id, user_id, post_id, account_id, network, url)
select w.code, @workspace_id, @user_id, @post_id::uuid, w.account_id, a.network, w.url
from (select unnest(@codes::text[]) as code, unnest(@account_ids::uuid[]) as account_id, unnest(@urls::text[]) as url) w
join accounts a on a.id = w.account_id
order by w.code
on conflict (code) do update set url = excluded.url where links.post_id = excluded.post_id and links.url = excluded.url;
