-- name: InsertRule :one
-- No row: the workspace has reached the limit.
insert into rules (id, workspace_id, user_id, name, definition)
select @id, @workspace_id, @user_id, @name, @definition
where (select count(*) from rules r where r.workspace_id = @workspace_id) < @max_rules::int
returning *;

-- name: ListRules :many
select * from rules where workspace_id = @workspace_id order by id;

-- name: GetRule :one
select * from rules where id = @id;

-- name: GetRuleInWorkspace :one
select * from rules where id = @id and workspace_id = @workspace_id;

-- name: RuleFigures :many
-- Posts of the last 24 hours, the newest decision and the number of decisions that need
-- attention.
select r.id,
    (select count(*) from rule_decisions d where d.rule_id = r.id and d.outcome in ('reserved', 'created')
      and d.decided_at > clock_timestamp() - interval '24 hours') as posts,
    (select d.decided_at from rule_decisions d where d.rule_id = r.id order by d.decided_at desc limit 1)::timestamptz
      as last_decision_at,
    (select count(*) from rule_decisions d where d.workspace_id = r.workspace_id and d.rule_id = r.id
      and d.attention <> '') as attention
from rules r
where r.workspace_id = @workspace_id and (@id::uuid = '00000000-0000-0000-0000-000000000000' or r.id = @id)
  and exists (select 1 from rule_decisions d where d.rule_id = r.id);

-- name: UpdateRule :one
update rules set name = @name, definition = @definition, version = version + 1, updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id and version = @version
returning *;

-- name: PauseRule :one
-- No row: it is paused already, or does not exist.
update rules set status = 'paused', pause_reason = @reason, pause_error = @error, paused_at = clock_timestamp(),
  version = version + 1, updated_at = clock_timestamp()
where id = @id and status = 'active'
returning *;

-- name: InsertRulePaused :exec
insert into post_events (workspace_id, type, actor, data)
values (@workspace_id, 'rule_paused', 'dateline', jsonb_build_object('rule_id', @rule_id::uuid, 'rule', @name::text,
  'reason', @reason::text, 'message', @problem::text));

-- name: ResumeRule :one
-- No row: it is active already, or does not exist.
update rules set status = 'active', pause_reason = '', pause_error = '', paused_at = null, failures = 0,
  active_since = clock_timestamp(),
    version = version + 1, updated_at = clock_timestamp()
where id = @id and status = 'paused'
returning *;

-- name: DeleteRule :one
delete from rules where id = @id and workspace_id = @workspace_id returning name;

-- name: LockRule :one
-- Serializes the decisions of a rule.
select * from rules where id = @id for update;

-- name: CountRuleFailure :one
update rules set failures = failures + 1 where id = @id returning failures;

-- name: ResetRuleFailures :exec
update rules set failures = 0 where id = @id and failures <> 0;

-- name: LeaseRuleArticles :many
update rule_articles c set leased_until = clock_timestamp() + make_interval(secs => @seconds::float8),
  attempts = attempts + 1
from (select id from rule_articles where leased_until <= clock_timestamp() order by leased_until,
  id limit @batch for update skip locked) picked
where c.id = picked.id
returning c.*;

-- name: CompleteRuleArticles :exec
delete from rule_articles where id = any(@ids::bigint[]);

-- name: PostponeRuleArticles :exec
update rule_articles set leased_until = clock_timestamp() + make_interval(secs => @seconds::float8)
  where id = any(@ids::bigint[]);

-- name: RulesForArticle :many
-- The active rules of the workspaces that crawl the article's domain.
select r.* from articles a
join rules r on r.status = 'active' and r.active_since <= @stored_at::timestamptz
    and exists (select 1 from seeds s where s.workspace_id = r.workspace_id and s.domain_id = a.domain_id)
where a.id = @article_id order by r.id;

-- name: RuleArticles :many
select a.id, a.group_id, a.version, d.domain, a.canonical_url, a.title, a.lead, a.section, a.language, a.image_url,
  a.authors, a.tags,
    cardinality(string_to_array(a.body_text, ' '))::int as words, a.published_at, a.date_only,
      (a.removed_at is not null or a.noindex)::bool as withdrawn,
    (a.nosnippet or a.tdm_reserved)::bool as title_only, m.story_id
from articles a join crawl_domains d on d.id = a.domain_id left join story_articles m on m.article_id = a.id
  where a.id = any(@ids::uuid[]);

-- name: RuleArticlesBetween :many
-- Articles on the domains of a workspace, in the order in which they were stored. Their
-- ids grow with time.
select a.id, a.group_id, a.version, d.domain, a.canonical_url, a.title, a.lead, a.section, a.language, a.image_url,
  a.authors, a.tags,
    cardinality(string_to_array(a.body_text, ' '))::int as words, a.published_at, a.date_only,
      (a.removed_at is not null or a.noindex)::bool as withdrawn,
    (a.nosnippet or a.tdm_reserved)::bool as title_only, m.story_id
from articles a join crawl_domains d on d.id = a.domain_id left join story_articles m on m.article_id = a.id
where a.id >= @from_id and a.id < @to_id
  and a.domain_id = any(array(select distinct s.domain_id from seeds s where s.workspace_id = @workspace_id))
order by a.id limit @max_count;

-- name: RuleUsage :one
select count(*) filter (where d.outcome in ('reserved', 'created') and d.decided_at > @hour_ago::timestamptz) as hour,
    count(*) filter (where d.outcome in ('reserved', 'created')) as day,
    count(*) filter (where (d.outcome in ('reserved', 'created') or d.reason in ('hourly_cap', 'daily_cap'))
      and d.decided_at > @hour_ago::timestamptz) as matched
from rule_decisions d where d.rule_id = @rule_id and d.decided_at > @day_ago::timestamptz;

-- name: RuleGroupArticle :one
-- The article of a group that has a post.
select article_id from rule_decisions where rule_id = @rule_id and group_id = @group_id and article_id <> @article_id
  and outcome in ('reserved', 'created');

-- name: RuleStoryArticle :one
-- The article of a story that has a post. Stories may have been merged since it was decided.
select d.article_id from story_articles a join story_articles m on m.story_id = a.story_id join rule_decisions d
  on d.article_id = m.article_id
where a.article_id = @article_id and d.rule_id = @rule_id and d.article_id <> @article_id and d.outcome in ('reserved',
  'created') limit 1;

-- name: RuleLastPost :one
-- The number of posts of a rule about an article and its group, and when the workspace
-- last posted about them, or will: by rules, or by members with the address.
select coalesce((select max(d.round) from rule_decisions d where d.rule_id = @rule_id
  and (d.article_id = @article_id or d.group_id = @group_id) and d.outcome <> 'skipped'), 0)::int as rounds,
    greatest(
        (select max(greatest(d.decided_at, p.scheduled_time)) from rule_decisions d left join scheduled_posts p
          on p.post_id = d.post_id
         where d.workspace_id = @workspace_id and (d.article_id = @article_id or d.group_id = @group_id)
           and d.outcome in ('reserved', 'created') and p.status is distinct from 'canceled'),
        (select max(p.scheduled_time) from scheduled_posts p
         where p.workspace_id = @workspace_id and p.scheduled_time > @since::timestamptz and p.status <> 'canceled'
           and position(@url::text in p.content) > 0
           and substr(p.content, position(@url::text in p.content) + length(@url::text), 1) !~ '[[:alnum:]/_-]'),
        'epoch')::timestamptz as posted_at;

-- name: LockEvergreenRules :exec
-- Serializes the decisions of the evergreen rules of a workspace.
select pg_advisory_xact_lock(hashtextextended('evergreen/' || @workspace::text, 0));

-- name: RuleEarlierTexts :many
select t.account_id, coalesce(t.override->>'content', p.content)::text as content
from rule_decisions d join scheduled_posts p on p.post_id = d.post_id join post_targets t on t.post_id = p.post_id
where d.workspace_id = @workspace_id and (d.article_id = @article_id or d.group_id = @group_id)
  and d.outcome in ('reserved', 'created') and d.post_id <> @post_id::uuid;

-- name: LeaseViewRules :many
-- Active rules that select articles by their views, and were not evaluated recently.
update rules set evaluated_at = clock_timestamp()
where id in (
    select r.id from rules r
    where r.status = 'active' and (r.definition->'trigger' ? 'trending' or r.definition->'trigger' ? 'evergreen')
      and r.evaluated_at <= clock_timestamp() - make_interval(secs => case when r.definition->'trigger' ? 'trending'
        then @trending_seconds::float8 else @evergreen_seconds::float8 end)
    order by r.id for update skip locked)
returning *;

-- name: SiteHosts :many
select distinct h.host::text as host from sites s, unnest(s.domains) h(host) where s.workspace_id = @workspace_id
  order by 1;

-- name: ArticlesReadInHours :many
select a.article_id, sum(h.count)::bigint as views
from sites s join site_articles a on a.site_id = s.id join view_pages p on p.site_id = s.id and p.page = a.page
join view_hours h on h.page_id = p.id and h.kind = 'view' and h.hour >= @from_hour and h.hour < @to_hour
where s.workspace_id = @workspace_id
group by a.article_id having sum(h.count) >= @min_views::bigint order by 2 desc, 1 limit @max_count;

-- name: ArticlesReadOnDays :many
-- Hours that are not rolled up yet are included.
select a.article_id, sum(w.count)::bigint as views
from sites s join site_articles a on a.site_id = s.id join view_pages p on p.site_id = s.id and p.page = a.page,
lateral (
    select d.count from view_days d where d.page_id = p.id and d.kind = 'view' and d.day >= @from_day
      and d.day < @to_day
    union all
    select h.count - h.rolled_count from view_hours h where h.page_id = p.id and h.kind = 'view' and h.day >= @from_day
      and h.day < @to_day and h.count <> h.rolled_count
) w
where s.workspace_id = @workspace_id
group by a.article_id having sum(w.count) >= @min_views::bigint order by 2 desc, 1 limit @max_count;

-- name: RuleDecisionOn :one
select * from rule_decisions where rule_id = @rule_id and article_id = @article_id and round = @round;

-- name: SaveRuleDecision :exec
-- Only a decision without a post is decided again.
insert into rule_decisions (id, rule_id, workspace_id, article_id, group_id, round, article_version, title, url,
  outcome, reason, params, post_id, decided_at)
values (@id, @rule_id, @workspace_id, @article_id, @group_id, @round, @article_version, @title, @url, @outcome, @reason,
  @params, @post_id, @decided_at)
on conflict (rule_id, article_id, round) do update set group_id = excluded.group_id,
  article_version = excluded.article_version, title = excluded.title, url = excluded.url,
    outcome = excluded.outcome, reason = excluded.reason, params = excluded.params, post_id = excluded.post_id,
      decided_at = excluded.decided_at, updated_at = clock_timestamp()
where rule_decisions.outcome = 'skipped' and rule_decisions.reason = any(@repeatable::text[]);

-- name: LockReservedDecision :one
-- No row: it is finished or deleted.
select id from rule_decisions where id = @id and outcome = 'reserved' and post_id = @post_id for share;

-- name: LockRuleDecision :one
select outcome from rule_decisions where id = @id for update;

-- name: FinishRuleDecision :execrows
-- No row: it is finished already, or has a post although it should have none.
update rule_decisions set outcome = @outcome, reason = @reason, params = @params, article_version = @article_version,
    post_id = case when @outcome::rule_outcome = 'created' then post_id end, post_revision = @post_revision,
      variant = @variant, text_hash = @text_hash, updated_at = clock_timestamp()
where id = @id and outcome = 'reserved'
  and (@outcome::rule_outcome = 'created' or not exists (select 1 from scheduled_posts p
    where p.post_id = rule_decisions.post_id));

-- name: RuleDecisionsOnArticle :many
select * from rule_decisions where article_id = @article_id and outcome in ('reserved', 'created') order by id;

-- name: SaveRuleFollowUp :execrows
update rule_decisions set article_version = @article_version, post_revision = @post_revision, text_hash = @text_hash,
  attention = @attention, updated_at = clock_timestamp()
where id = @id;

-- name: UnfinishedRuleDecisions :many
select * from rule_decisions where outcome = 'reserved'
  and updated_at < clock_timestamp() - make_interval(secs => @seconds::float8) order by updated_at limit @batch;

-- name: DeleteOldRuleDecisions :execrows
-- Deletes decisions without a post.
delete from rule_decisions where id in (
    select d.id from rule_decisions d where d.outcome in ('skipped', 'failed') and d.id < @before_id order by d.id
      limit 1000);

-- name: ListRuleDecisions :many
select * from rule_decisions
where workspace_id = @workspace_id and id < @before
  and (sqlc.narg('rule_id')::uuid is null or rule_id = sqlc.narg('rule_id'))
  and (@outcome::text = '' or outcome::text = @outcome)
  and (not @needs_attention::bool or attention <> '')
order by id desc limit @page_size;

-- name: ResolveRuleDecision :one
update rule_decisions set attention = '', updated_at = clock_timestamp() where id = @id and workspace_id = @workspace_id
returning *;
