-- name: LockStories :exec
-- Serializes the changes of the stories of a language.
select pg_advisory_xact_lock(827194, hashtext(@language));

-- name: WaitingStoryLanguages :many
-- Loose index scan: the distinct languages of the queue.
with recursive found as (
    (select q.language from story_queue q order by q.language limit 1)
    union all
    select (select q.language from story_queue q where q.language > f.language order by q.language limit 1) from found f
      where f.language is not null
)
select f.language::text as language from found f where f.language is not null;

-- name: StoryQueue :many
select id, article_id, extract(epoch from clock_timestamp() - queued_at)::float8 as waited_seconds from story_queue
  where language = @language order by id limit @batch;

-- name: CompleteStoryQueue :exec
delete from story_queue where id = any(@ids::bigint[]);

-- name: StoryBacklog :one
select (select count(*) from (select 1 from story_queue limit @max_count) q)::bigint as articles,
    coalesce((select extract(epoch from clock_timestamp() - queued_at) from story_queue order by id limit 1), 0)::float8
      as oldest;

-- name: StoryDocuments :many
-- The texts of articles, as far as their publishers allow their use. An article belongs to
-- the language of its story, or to its own before it is placed. Its row is locked, so that
-- a change or a deletion that commits later sees the placement and queues the article again.
select a.id, a.group_id, a.domain_id, a.version, a.title, least(a.dated_at, clock_timestamp())::timestamptz as dated_at,
    case when a.tdm_reserved then '' else a.lead end::text as lead, case when a.tdm_reserved then ''
      else a.body_text end::text as body
from articles a where a.id = any(@ids::uuid[])
  and coalesce((select s.language from story_articles m join stories s on s.id = m.story_id where m.article_id = a.id),
    a.language) = @language
order by a.id for share of a;

-- name: StoryPlacements :many
-- The placements of articles, and of the documents of groups, in stories of the language.
select m.article_id, m.story_id, m.group_id, m.domain_id, m.is_document, m.similarity, m.dated_at, m.article_version,
  m.pinned_by,
    coalesce(v.terms, '{}')::bigint[] as terms, coalesce(v.weights, '{}')::real[] as weights
from story_articles m join stories s on s.id = m.story_id left join story_vectors v on v.article_id = m.article_id
where s.language = @language and (m.article_id = any(@article_ids::uuid[]) or m.is_document
  and m.group_id = any(@group_ids::uuid[]))
order by m.placed_at desc, m.article_id;

-- name: StoryMembers :many
select m.article_id, m.story_id, m.group_id, m.domain_id, m.is_document, m.similarity, m.dated_at, m.article_version,
  m.pinned_by,
    coalesce(v.terms, '{}')::bigint[] as terms, coalesce(v.weights, '{}')::real[] as weights
from story_articles m left join story_vectors v on v.article_id = m.article_id
where m.story_id = @story_id order by m.dated_at, m.article_id;

-- name: TermCounts :many
-- Of this month and the last one.
select term, sum(documents)::bigint as documents from term_counts
where language = @language and month >= (date_trunc('month', now()) - interval '1 month')::date
  and term = any(@terms::bigint[]) group by term;

-- name: AddTermCounts :exec
insert into term_counts as t (language, month, term, documents)
select @language, date_trunc('month', now())::date, w.term, w.documents
from (select unnest(@terms::bigint[]) as term, unnest(@counts::int[]) as documents) w order by w.term
on conflict (language, month, term) do update set documents = t.documents + excluded.documents;

-- name: StoryClusters :many
select id, centroid_terms, centroid_weights, documents, first_at, last_at from stories where id = any(@ids::uuid[])
  and merged_into is null and documents > 0;

-- name: StoryClustersWith :many
select s.id, s.centroid_terms, s.centroid_weights, s.documents, s.first_at, s.last_at from stories s
where s.merged_into is null and s.documents > 0 and s.last_at >= @from_time::timestamptz
  and s.first_at <= @to_time::timestamptz
  and s.id in (select t.story_id from story_terms t where t.language = @language and t.term = any(@terms::bigint[])
    group by t.story_id having count(*) >= @shared::bigint)
order by s.id;

-- name: InsertStory :exec
insert into stories (id, language, follows_id, follows_similarity) values (@id, @language, sqlc.narg('follows_id'),
  @follows_similarity);

-- name: SaveStoryCluster :exec
update stories set centroid_terms = @terms::bigint[], centroid_weights = @weights::real[], documents = @documents,
  updated_at = clock_timestamp() where id = @id;

-- name: RefreshStories :exec
-- Counts the articles of stories and their times, and requests reviews.
update stories s set articles = c.articles, first_at = c.first_at, last_at = c.last_at, updated_at = clock_timestamp(),
    review_at = case when s.id = any(@review_ids::uuid[])
      then least(s.review_at, clock_timestamp() + make_interval(secs => @review_seconds::float8)) else s.review_at end
from (select w.id, count(m.article_id) as articles, coalesce(min(m.dated_at), 'epoch') as first_at,
  coalesce(max(m.dated_at), 'epoch') as last_at
    from unnest(@ids::uuid[]) w(id) left join story_articles m on m.story_id = w.id group by w.id) c
where s.id = c.id;

-- name: SetStoryTerms :exec
-- Replaces the terms by which stories are found. The arrays have the same length.
with gone as (
    delete from story_terms t where t.story_id = any(@story_ids::uuid[])
      and not exists (select 1 from (select unnest(@owners::uuid[]) as story_id, unnest(@terms::bigint[]) as term) w
        where w.story_id = t.story_id and w.term = t.term)
)
insert into story_terms (language, term, story_id)
select @language, w.term, w.story_id from (select unnest(@owners::uuid[]) as story_id, unnest(@terms::bigint[])
  as term) w order by w.term, w.story_id
on conflict do nothing;

-- name: SaveStoryArticles :exec
insert into story_articles (article_id, story_id, group_id, domain_id, is_document, similarity, dated_at,
  article_version)
select unnest(@article_ids::uuid[]), unnest(@story_ids::uuid[]), unnest(@group_ids::uuid[]), unnest(@domain_ids::int[]),
  unnest(@documents::boolean[]),
    unnest(@similarities::real[]), unnest(@times::timestamptz[]), unnest(@versions::bigint[])
on conflict (article_id) do update set story_id = excluded.story_id, group_id = excluded.group_id,
  domain_id = excluded.domain_id, is_document = excluded.is_document,
    similarity = excluded.similarity, dated_at = excluded.dated_at, article_version = excluded.article_version;

-- name: SaveStoryVector :exec
insert into story_vectors (article_id, terms, weights) values (@article_id, @terms::bigint[], @weights::real[])
on conflict (article_id) do update set terms = excluded.terms, weights = excluded.weights;

-- name: DeleteStoryArticles :exec
-- The next article of the group takes the place of a deleted document.
with gone as (
    delete from story_articles where article_id = any(@ids::uuid[]) returning article_id, story_id, group_id,
      is_document
), vectors as (
    select g.story_id, g.group_id, v.terms, v.weights from gone g join story_vectors v on v.article_id = g.article_id
      where g.is_document
), heirs as (
    select distinct on (m.story_id, m.group_id) m.article_id, v.terms, v.weights from vectors v
    join story_articles m on m.story_id = v.story_id and m.group_id = v.group_id and m.article_id <> all(@ids::uuid[])
    order by m.story_id, m.group_id, m.dated_at, m.article_id
), stored as (
    insert into story_vectors (article_id, terms, weights) select article_id, terms, weights from heirs on conflict
      do nothing
)
update story_articles set is_document = true where article_id in (select article_id from heirs);

-- name: SetStorySimilarities :exec
update story_articles m set similarity = w.similarity
from (select unnest(@article_ids::uuid[]) as article_id, unnest(@similarities::real[]) as similarity) w
where m.story_id = @story_id and (m.article_id = w.article_id or m.group_id = (select o.group_id from story_articles o
  where o.article_id = w.article_id)) and m.similarity <> w.similarity;

-- name: MoveStoryArticles :exec
update story_articles set story_id = @story_id, pinned_by = case when @pinned_by::text = ''
  then story_articles.pinned_by else @pinned_by::text end where article_id = any(@ids::uuid[]);

-- name: DemoteStoryCopies :exec
-- Leaves one document of each group in a story.
update story_articles m set is_document = false
where m.story_id = @story_id and m.is_document
  and exists (select 1 from story_articles o where o.story_id = m.story_id and o.group_id = m.group_id and o.is_document
    and (o.dated_at, o.article_id) < (m.dated_at, m.article_id));

-- name: SetStoryMerged :exec
update stories set merged_into = sqlc.narg('into'), review_at = null, updated_at = clock_timestamp() where id = @id;

-- name: MoveStoryAlerts :exec
-- An alert about a merged story counts for the surviving one.
insert into story_alerts (workspace_id, story_id, state, due_at, post_id, has_draft, owners, created_at, finished_at)
select o.workspace_id, @into_id, o.state, o.due_at, o.post_id, o.has_draft, o.owners, o.created_at, o.finished_at
  from story_alerts o where o.story_id = @from_id and o.state <> 'waiting'
on conflict (workspace_id, story_id) do update set state = excluded.state, post_id = excluded.post_id,
  has_draft = excluded.has_draft, owners = excluded.owners, finished_at = excluded.finished_at
where story_alerts.state = 'waiting';

-- name: InsertStoryEvent :exec
insert into story_events (id, language, kind, story_id, other_id, article_ids, similarity, actor)
values (@id, @language, @kind, @story_id, sqlc.narg('other_id'), @article_ids, @similarity, @actor);

-- name: WasStoryEventUndone :one
select exists (select 1 from story_events e where e.kind = @kind and e.undone_at is not null
    and (e.story_id = @story_id and (@other_id::uuid = '00000000-0000-0000-0000-000000000000' or e.other_id = @other_id)
      or e.story_id = @other_id and e.other_id = @story_id));

-- name: UndoStoryEvent :execrows
update story_events set undone_at = clock_timestamp(), undone_by = @undone_by where id = @id and undone_at is null;

-- name: GetStoryEvent :one
-- An event of articles or of a story that the workspace sees.
select e.* from story_events e where e.id = @id
  and exists (select 1 from story_articles m join seeds s on s.domain_id = m.domain_id
    and s.workspace_id = @workspace_id where m.story_id in (e.story_id, e.other_id)
    or m.article_id = any(e.article_ids));

-- name: ListStoryEvents :many
select * from story_events where story_id = @story_id or other_id = @story_id order by at desc, id desc limit 50;

-- name: StoryReviewDone :exec
update stories set review_at = null where id = @id;

-- name: ReviewableStories :many
select id, language from stories where review_at <= clock_timestamp() order by review_at, id limit @batch;

-- name: RequestStoryReviews :execrows
update stories set review_at = clock_timestamp() where merged_into is null and articles > 1 and documents > 1
  and last_at > clock_timestamp() - interval '4 days' and review_at is null;

-- name: DeleteOldTermCounts :exec
delete from term_counts where month < (date_trunc('month', now()) - interval '1 month')::date;

-- name: DeleteOldStoryTerms :exec
-- Single articles have no follow-ups.
delete from story_terms t using stories s
where s.id = t.story_id and (s.merged_into is not null or s.last_at < clock_timestamp() - case when s.documents > 1
  then interval '34 days' else interval '4 days' end);

-- name: DeleteOldStoryVectors :exec
delete from story_vectors v using story_articles m where m.article_id = v.article_id
  and m.dated_at < clock_timestamp() - interval '60 days';

-- name: DeleteEmptyStories :exec
-- Deletes stories whose articles were deleted. Those that editors changed stay for two
-- months, so that the change can be undone.
with empty as (
    select s.id from stories s where s.articles = 0 and s.merged_into is null
      and s.updated_at < clock_timestamp() - case when exists (select 1 from story_events e where e.story_id = s.id
        or e.other_id = s.id) then interval '60 days' else interval '1 day' end
      and not exists (select 1 from stories o where o.merged_into = s.id)
), events as (
    delete from story_events e using empty where e.story_id = empty.id or e.other_id = empty.id
)
delete from stories s using empty where s.id = empty.id;

-- name: SetStoryHeadline :exec
update stories set headline_article = sqlc.narg('article_id'), updated_at = clock_timestamp() where id = @id;

-- name: CountInvisibleArticles :one
select count(*) from story_articles m
where m.article_id = any(@ids::uuid[]) and not exists (select 1 from seeds s where s.domain_id = m.domain_id
  and s.workspace_id = @workspace_id);

-- name: GetStoryLanguage :one
-- The story, or the one into which it was merged, if the workspace sees one of its articles.
with recursive chain as (
    select s.id, s.language, s.merged_into, 0 as depth from stories s where s.id = @id
    union all
    select s.id, s.language, s.merged_into, c.depth + 1 from chain c join stories s on s.id = c.merged_into
      where c.depth < 100
)
select c.id, c.language from chain c where c.merged_into is null
  and exists (select 1 from story_articles m join seeds e on e.domain_id = m.domain_id
    and e.workspace_id = @workspace_id where m.story_id = c.id);

-- name: CurrentStory :one
-- The story, or the one into which it was merged.
with recursive chain as (
    select s.id, s.merged_into, 0 as depth from stories s where s.id = @id
    union all
    select s.id, s.merged_into, c.depth + 1 from chain c join stories s on s.id = c.merged_into where c.depth < 100
)
select c.id from chain c where c.merged_into is null;

-- name: LockStory :one
-- Delays merges of a story and reports whether it was merged.
select (merged_into is not null)::bool as is_merged from stories where id = @id for share;

-- name: ListStories :many
-- Stories as a workspace sees them: with the articles of the domains that it crawls. A
-- near-duplicate of an article that was found earlier is a copy; an owner counts if one
-- of its articles is no copy.
with sources as materialized (
    select d.id, d.domain, coalesce(@owners::jsonb ->> d.domain, d.domain) as owner,
        exists (select 1 from sites s, unnest(s.domains) h(host) where s.workspace_id = @workspace_id
            and (d.domain = h.host or right(d.domain, length(h.host) + 1) = '.' || h.host
              or right(h.host, length(d.domain) + 1) = '.' || d.domain)) as is_own
    from crawl_domains d where d.id in (select e.domain_id from seeds e where e.workspace_id = @workspace_id)
), seen as (
    select m.story_id, m.article_id, m.similarity, m.dated_at, a.first_seen_at, o.owner, o.is_own,
      s.last_at as story_last_at, s.headline_article,
        row_number() over (partition by m.story_id, m.group_id order by a.first_seen_at, a.id) > 1 as is_copy
    from stories s join story_articles m on m.story_id = s.id join sources o on o.id = m.domain_id join articles a
      on a.id = m.article_id
    where s.merged_into is null and a.removed_at is null and not a.noindex
      and (@id::uuid = s.id or @id::uuid = '00000000-0000-0000-0000-000000000000' and s.articles > 1
        and s.last_at >= @from_time::timestamptz and s.last_at < @to_time::timestamptz
          and (@language::text = '' or s.language = @language))
), summed as (
    select story_id, min(first_seen_at) as first_seen_at, min(dated_at) as first_at, max(dated_at) as last_at,
      count(*) as articles,
        count(*) filter (where is_copy) as copies, count(distinct owner) filter (where not is_copy) as owners,
          count(*) filter (where is_own) as own_articles,
        (array_agg(article_id order by (article_id = headline_article) desc nulls last,
          (dated_at > story_last_at - interval '6 hours') desc, similarity desc, first_seen_at, article_id))[1]
          as headline_id
    from seen group by story_id
), joined as (
    select o.story_id, count(*) filter (where o.since > @rising_since::timestamptz) as new_owners
    from (select story_id, owner, min(first_seen_at) as since from seen where not is_copy group by story_id, owner) o
      group by o.story_id
)
select s.id, s.language, s.follows_id, (s.headline_article is not null and s.headline_article = c.headline_id)::bool
  as is_pinned, c.headline_id::uuid as headline_id,
    a.title, a.canonical_url, o.domain, a.image_url,
    c.first_seen_at::timestamptz as first_seen_at, c.first_at::timestamptz as first_at, c.last_at::timestamptz
      as last_at, c.articles, c.copies, c.owners, c.own_articles, j.new_owners,
    coalesce(w.state::text, '')::text as alert, coalesce(w.has_draft, false)::bool as has_draft,
      w.post_id as alert_post_id
from summed c join stories s on s.id = c.story_id join joined j on j.story_id = c.story_id join articles a
  on a.id = c.headline_id join sources o on o.id = a.domain_id
left join story_alerts w on w.story_id = s.id and w.workspace_id = @workspace_id
where (@id::uuid = s.id or c.articles > 1) and c.owners >= @min_owners::bigint
  and (@coverage::text = '' or (c.own_articles > 0) = (@coverage::text = 'covered'))
  and c.first_seen_at >= @seen_since::timestamptz and (not @unalerted::bool or w.state is null)
  and (not @rising::bool or @id::uuid = s.id or j.new_owners > 0)
  and (@rising::bool or (c.last_at, s.id) < (@before_time::timestamptz, @before_id::uuid))
order by case when @rising::bool then j.new_owners end desc nulls last, case when @rising::bool
  then c.owners end desc nulls last, c.last_at desc, s.id desc
limit @page_size;

-- name: ListStoryEntries :many
-- The articles of a story on the domains that a workspace crawls, the earliest found first.
-- Own articles are always among them.
select e.* from (select a.id, m.group_id, a.title, a.canonical_url, d.domain, coalesce(@owners::jsonb ->> d.domain,
  d.domain)::text as owner, a.first_seen_at, a.published_at, a.date_only,
    case when a.nosnippet or a.tdm_reserved then '' else a.lead end::text as lead, case when a.nosnippet
      or a.tdm_reserved then '' else a.body_text end::text as body,
    case when a.nosnippet or a.tdm_reserved then '[]' else jsonb_path_query_array(a.live_entries, '$[0 to 4]')
      end::jsonb as live_entries,
    m.similarity, (m.pinned_by <> '')::bool as is_pinned,
    (row_number() over (partition by m.group_id order by a.first_seen_at, a.id) > 1)::bool as is_copy,
    exists (select 1 from sites s, unnest(s.domains) h(host) where s.workspace_id = @workspace_id
        and (d.domain = h.host or right(d.domain, length(h.host) + 1) = '.' || h.host
          or right(h.host, length(d.domain) + 1) = '.' || d.domain)) as is_own
from story_articles m join articles a on a.id = m.article_id join crawl_domains d on d.id = a.domain_id
where m.story_id = @story_id and a.removed_at is null and not a.noindex
  and exists (select 1 from seeds e where e.workspace_id = @workspace_id and e.domain_id = a.domain_id)
order by is_own desc, a.first_seen_at, a.id limit @page_size) e order by e.first_seen_at, e.id;

-- name: ListStoryCorrections :many
-- Later versions of articles that changed their text, with the title before.
select r.article_id, r.version, r.seen_at, r.changed, r.title, p.title as previous_title
from article_revisions r join article_revisions p on p.article_id = r.article_id and p.version = r.version - 1
where r.article_id = any(@ids::uuid[]) and r.changed && array['title', 'lead', 'body'] order by r.seen_at, r.article_id
  limit 100;

-- name: ListStoryPosts :many
-- Posts of the workspace that link to an article of the story, or were created from one by
-- a rule. Canceled posts and drafts of alerts do not count.
select p.post_id, p.content, p.status::text as status, p.posted_at, p.scheduled_time, w.article_id::uuid as article_id
from (
    select distinct on (f.post_id) f.post_id, f.article_id from (
        select l.post_id, u.article_id from (select unnest(@article_ids::uuid[]) as article_id, unnest(@urls::text[])
          as url) u
        join links l on l.workspace_id = @workspace_id and l.created_at >= @since::timestamptz and l.post_id is not null
          and split_part(split_part(l.url, '?', 1), '#', 1) = split_part(split_part(u.url, '?', 1), '#', 1)
        union all
        select r.post_id, r.article_id from rule_decisions r where r.workspace_id = @workspace_id
          and r.article_id = any(@article_ids::uuid[]) and r.outcome = 'created'
        union all
        select s.post_id, u.article_id from (select unnest(@article_ids::uuid[]) as article_id, unnest(@urls::text[])
          as url) u
        join scheduled_posts s on s.workspace_id = @workspace_id and s.created_at >= @since::timestamptz
          and position(u.url in s.content) > 0
    ) f order by f.post_id, f.article_id
) w join scheduled_posts p on p.post_id = w.post_id
where p.workspace_id = @workspace_id and p.status <> 'canceled'
  and not (p.status = 'draft' and exists (select 1 from story_alerts o where o.workspace_id = @workspace_id
    and o.post_id = p.post_id))
order by p.created_at, p.post_id limit 50;

-- name: StoryReaders :one
-- Readers of the pages of the workspace's own articles. site_articles has new articles only
-- after an hour.
select coalesce(sum(v.views), 0)::bigint as views, coalesce(sum(v.uniques), 0)::bigint as visitors
from (
    select distinct s.id as site_id, w.page from (select unnest(@hosts::text[]) as host, unnest(@pages::text[])
      as page) w
    join sites s on s.workspace_id = @workspace_id and exists (select 1 from unnest(s.domains) h(host)
      where w.host = h.host or right(w.host, length(h.host) + 1) = '.' || h.host)
) own join view_pages v on v.site_id = own.site_id and v.page = own.page;

-- name: ListRelatedStories :many
-- The earlier story that a story follows up, and the later ones that follow it.
select s.id, (s.id = @follows_id::uuid)::bool as is_earlier, s.last_at, s.follows_similarity from stories s
where s.merged_into is null and (s.id = @follows_id::uuid or s.follows_id = @id::uuid) order by s.last_at limit 20;

-- name: AlertingStoryWorkspaces :many
select * from story_preferences where (preferences ->> 'alert_enabled')::bool order by workspace_id;

-- name: GetStoryPreferences :one
select * from story_preferences where workspace_id = @workspace_id;

-- name: SaveStoryPreferences :one
insert into story_preferences (workspace_id, user_id, preferences) values (@workspace_id, @user_id, @preferences)
on conflict (workspace_id) do update set user_id = excluded.user_id, preferences = excluded.preferences,
  version = story_preferences.version + 1, updated_at = clock_timestamp()
returning *;

-- name: AddStoryAlerts :exec
-- An alert waits until the own sites have been crawled again, at most half an hour.
insert into story_alerts (workspace_id, story_id, due_at, post_id)
select @workspace_id, w.story_id, clock_timestamp() + make_interval(secs => least(coalesce((
    select max(e.interval_seconds) from seeds e join crawl_domains d on d.id = e.domain_id, sites s,
      unnest(s.domains) h(host)
    where e.workspace_id = @workspace_id and e.status = 'active' and s.workspace_id = @workspace_id
      and (d.domain = h.host or right(d.domain, length(h.host) + 1) = '.' || h.host
        or right(h.host, length(d.domain) + 1) = '.' || d.domain)), 0), 1800)), w.post_id
from (select unnest(@story_ids::uuid[]) as story_id, unnest(@post_ids::uuid[]) as post_id) w
on conflict do nothing;

-- name: DueStoryAlerts :many
select workspace_id, story_id, post_id from story_alerts where workspace_id = @workspace_id and state = 'waiting'
  and due_at <= clock_timestamp() order by due_at, story_id limit @batch;

-- name: SendStoryAlert :execrows
update story_alerts set state = 'sent', has_draft = @has_draft, owners = @owners, finished_at = clock_timestamp()
where workspace_id = @workspace_id and story_id = @story_id and state = 'waiting';

-- name: CoverStoryAlert :exec
update story_alerts set state = 'covered', finished_at = clock_timestamp() where workspace_id = @workspace_id
  and story_id = @story_id and state = 'waiting';

-- name: DeleteWaitingStoryAlert :exec
delete from story_alerts where workspace_id = @workspace_id and story_id = @story_id and state = 'waiting';

-- name: MuteStoryAlert :exec
insert into story_alerts (workspace_id, story_id, state, due_at, post_id, finished_at) values (@workspace_id, @story_id,
  'muted', clock_timestamp(), @post_id, clock_timestamp())
on conflict (workspace_id, story_id) do update set state = 'muted', finished_at = clock_timestamp();

-- name: InsertStoryMissed :exec
insert into post_events (workspace_id, type, actor, data) values (@workspace_id, 'story_missed', 'dateline', @data);
