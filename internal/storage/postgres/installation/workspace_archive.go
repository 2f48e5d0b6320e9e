package installation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/identity/workspace"
	"dateline/internal/system/archive"
)

// exportQueries select the data of a workspace, in the order in which it can be
// imported. They exclude secrets and data specific to one installation.
func exportQueries() map[archive.Section]string {
	return map[archive.Section]string{
		archive.Workspace: `select jsonb_build_object('name', name, 'time_zone', time_zone, 'authors_need_approval',
			authors_need_approval, 'keep_media_credit', keep_media_credit) from workspaces where id = $1`,
		archive.Accounts: `select jsonb_build_object('id', id, 'network', network, 'base_url', base_url, 'remote_id',
			remote_id, 'handle', handle, 'name', name,
			'label', label, 'color', color, 'kind', kind, 'settings', settings, 'created_at', created_at) from accounts
				where workspace_id = $1 order by id`,
		archive.Groups: `select to_jsonb(g) - '{workspace_id,updated_at}'::text[] from account_groups g
			where workspace_id = $1 order by id`,
		archive.Snippets: `select to_jsonb(s) - '{workspace_id,updated_at}'::text[] from snippets s
			where workspace_id = $1 order by id`,
		archive.Labels: `select to_jsonb(l) - '{workspace_id,updated_at}'::text[] from labels l
			where workspace_id = $1 order by id`,
		archive.Media: `select jsonb_build_object('id', id, 'object_key', object_key, 'sha256', encode(sha256, 'hex'),
			'mime_type', mime_type, 'bytes', bytes,
			'file_name', file_name, 'alt_text', alt_text, 'metadata_removed', metadata_removed, 'created_at',
				created_at) from media where workspace_id = $1 and deleted_at is null order by id`,
		archive.Series: `select to_jsonb(s) -
			'{workspace_id,user_id,checked_until,last_error,last_error_at,version}'::text[] ||
			jsonb_build_object('notes', (select coalesce(jsonb_agg(to_jsonb(n) - 'series_id' order by n.occurrence),
				'[]') from series_exceptions n where n.series_id = s.id))
			from series s where workspace_id = $1 order by id`,
		archive.Posts: `select to_jsonb(p) -
			('{workspace_id,user_id,attachment_urls,platform_media_ids,workflow_revision,listed_at,queue_slot,' ||
				'search_text,submitted_by,submitted_at,approval_by,approval_at,late_noted_at,redriven_at}')::text[] ||
			jsonb_build_object('targets',
				(select coalesce(jsonb_agg(to_jsonb(t) - '{post_id,fence,claimed_until,listed_at}'::text[] ||
				jsonb_build_object('published',
					(select coalesce(jsonb_agg(to_jsonb(r) - '{target_id,account_id}'::text[] order by r.segment), '[]')
					from remote_posts r where r.target_id = t.id)) order by t.id), '[]')
				from post_targets t where t.post_id = p.post_id))
			from scheduled_posts p where workspace_id = $1 order by created_at, post_id`,
		archive.Links: `select to_jsonb(l) - '{workspace_id,user_id}'::text[] from links l where workspace_id = $1
			order by created_at, code`,
		archive.Sites: `select jsonb_build_object('name', name, 'domains', domains, 'time_zone', time_zone,
			'window_seconds', window_seconds, 'unique_method', unique_method, 'max_id', max_id,
			'rate_hits', rate_hits, 'rate_seconds', rate_seconds, 'visitors', visitors,
			'weekly_uniques', weekly_uniques, 'public_counts', public_counts)
			from sites where workspace_id = $1 order by created_at, id`,
		archive.Seeds: `select jsonb_build_object('url', url, 'kind', kind, 'title', title, 'status', status,
			'priority', priority, 'min_interval_seconds', min_interval_seconds,
			'max_interval_seconds', max_interval_seconds, 'allow', allow, 'deny', deny, 'max_depth', max_depth,
				'daily_budget', daily_budget) from seeds where workspace_id = $1 order by created_at, id`,
	}
}

// ExportWorkspace passes on the number of rows of a workspace and then all of them, as of
// one snapshot.
func (s *ArchiveStore) ExportWorkspace(
	ctx context.Context, workspaceID uuid.UUID, begin func(total int),
	emit func(archive.Section, json.RawMessage) error,
) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	queries := exportQueries()
	all := 0
	for _, section := range archive.Sections() {
		var n int
		if err := tx.QueryRow(ctx, "select count(*) from ("+queries[section]+") owned", workspaceID).
			Scan(&n); err != nil {
			return fmt.Errorf("counting %s: %w", section, err)
		}
		all += n
	}
	begin(all)
	for _, section := range archive.Sections() {
		if _, err := tx.Exec(ctx, "declare owned no scroll cursor for "+queries[section], workspaceID); err != nil {
			return fmt.Errorf("exporting %s: %w", section, err)
		}
		for {
			rows, err := tx.Query(ctx, "fetch 500 from owned")
			if err != nil {
				return err
			}
			some, err := pgx.CollectRows(rows, pgx.RowTo[json.RawMessage])
			if err != nil {
				return err
			}
			for _, row := range some {
				if err := emit(section, row); err != nil {
					return err
				}
			}
			if len(some) == 0 {
				break
			}
		}
		if _, err := tx.Exec(ctx, "close owned"); err != nil {
			return err
		}
	}
	return nil
}

// importColumns are the columns that an import writes. Other columns of an archive
// are ignored.
func importColumns() map[archive.Table][]string {
	return map[archive.Table][]string{
		archive.AccountRows: {
			"id", "workspace_id", "network", "base_url", "remote_id", "handle", "name", "label",
			"color", "kind", "settings", "created_at", "status", "token",
		},
		archive.GroupRows: {
			"id", "workspace_id", "name", "color", "account_ids", "time_zone", "slots", "created_at",
		},
		archive.LabelRows:   {"id", "workspace_id", "kind", "name", "color", "created_at"},
		archive.SnippetRows: {"id", "workspace_id", "kind", "name", "text", "template", "created_at"},
		archive.SeriesRows: {
			"id", "workspace_id", "user_id", "rule", "starts", "time_zone", "template", "status",
			"by_author", "created_at", "template_revision",
		},
		archive.ExceptionRows: {"series_id", "occurrence", "kind", "reason", "at"},
		archive.PostRows: {
			"post_id", "workspace_id", "user_id", "content", "scheduled_time", "time_zone", "status",
			"retry_count", "attachment_ids", "attachment_urls", "thread_id",
			"thread_parent_id", "language", "thread", "options", "late_limit_minutes", "posted_at", "created_at",
			"series_id", "occurrence", "series_revision", "series_template_revision", "withdrawn", "link_base",
			"queue_group_id", "label_ids",
		},
		archive.TargetRows: {
			"id", "post_id", "account_id", "status", "attempts", "override", "fingerprint",
			"remote_id", "remote_url", "error_class", "error_code", "error_message", "sent_at", "posted_at",
		},
		archive.RemoteRows: {"account_id", "remote_id", "target_id", "segment", "remote_url", "sent_at", "posted_at"},
		archive.LinkRows: {
			"code", "workspace_id", "user_id", "post_id", "account_id", "network", "url", "title",
			"created_at", "disabled_at",
		},
	}
}

// ImportRows inserts rows of one table that do not exist yet, in one transaction, and
// returns their number. The caller must check the workspace id in the rows.
func (s *ArchiveStore) ImportRows(
	ctx context.Context, table archive.Table, rows []map[string]any,
) (added int64, err error) {
	columns := importColumns()[table]
	if columns == nil {
		return 0, fmt.Errorf("nothing is imported into %s", table)
	}
	if len(rows) == 0 {
		return 0, nil
	}
	// A column that no row has a value for keeps its default.
	columns = slices.DeleteFunc(slices.Clone(columns), func(c string) bool {
		return !slices.ContainsFunc(rows, func(r map[string]any) bool { return r[c] != nil })
	})
	raw, err := json.Marshal(rows)
	if err != nil {
		return 0, err
	}
	list := strings.Join(columns, ", ")
	tag, err := s.pool.Exec(ctx,
		fmt.Sprintf("insert into %[1]s (%[2]s) select %[2]s from jsonb_populate_recordset(null::%[1]s, $1) on "+
			"conflict do nothing", table, list), raw)
	return tag.RowsAffected(), err
}

// AccountsByRemote maps network, base URL and remote id to a workspace's accounts.
func (s *ArchiveStore) AccountsByRemote(
	ctx context.Context, workspaceID uuid.UUID,
) (map[archive.RemoteAccount]uuid.UUID, error) {
	rows, err := s.pool.Query(ctx, "select network, base_url, remote_id, id from accounts where workspace_id = $1",
		workspaceID)
	if err != nil {
		return nil, err
	}
	found := map[archive.RemoteAccount]uuid.UUID{}
	var a archive.RemoteAccount
	var id uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&a.Network, &a.BaseURL, &a.RemoteID, &id}, func() error {
		found[a] = id
		return nil
	})
	return found, err
}

// GroupNames maps the names of a workspace's account groups to their ids.
func (s *ArchiveStore) GroupNames(ctx context.Context, workspaceID uuid.UUID) (map[string]uuid.UUID, error) {
	return s.names(ctx, "select '', name, id from account_groups where workspace_id = $1", workspaceID,
		func(_, name string) string { return name })
}

// LabelNames maps the kinds and names of a workspace's labels to their ids.
func (s *ArchiveStore) LabelNames(ctx context.Context, workspaceID uuid.UUID) (map[string]uuid.UUID, error) {
	return s.names(ctx, "select kind::text, name, id from labels where workspace_id = $1", workspaceID, kindAndName)
}

// SnippetNames maps the kinds and names of a workspace's snippets to their ids.
func (s *ArchiveStore) SnippetNames(ctx context.Context, workspaceID uuid.UUID) (map[string]uuid.UUID, error) {
	return s.names(ctx, "select kind::text, name, id from snippets where workspace_id = $1", workspaceID, kindAndName)
}

func kindAndName(kind, name string) string { return kind + " " + strings.ToLower(name) }

// names maps what key makes of kinds and names to ids.
func (s *ArchiveStore) names(
	ctx context.Context, statement string, workspaceID uuid.UUID, key func(kind, name string) string,
) (map[string]uuid.UUID, error) {
	rows, err := s.pool.Query(ctx, statement, workspaceID)
	if err != nil {
		return nil, err
	}
	found := map[string]uuid.UUID{}
	var kind, name string
	var id uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&kind, &name, &id}, func() error {
		found[key(kind, name)] = id
		return nil
	})
	return found, err
}

// OwnerOf returns a workspace by its id, or the only workspace, and its first owner.
func (s *ArchiveStore) OwnerOf(ctx context.Context, workspaceID uuid.UUID) (workspace.Principal, error) {
	var who workspace.Principal
	rows, err := s.pool.Query(ctx,
		`select m.workspace_id, m.user_id from members m where m.role = 'owner'
			and ($1 = '00000000-0000-0000-0000-000000000000'::uuid or m.workspace_id = $1)
		and not exists (select from members e where e.workspace_id = m.workspace_id and e.role = 'owner'
			and (e.created_at, e.user_id) < (m.created_at, m.user_id))
		order by 1 limit 2`, workspaceID)
	if err != nil {
		return who, err
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p workspace.Principal, err error) {
		return p, row.Scan(&p.WorkspaceID, &p.UserID)
	})
	if err != nil {
		return who, err
	}
	switch len(all) {
	case 0:
		return who, errors.New("there is no such workspace")
	case 1:
		who = all[0]
		who.Role, who.Scopes = workspace.Owner, []workspace.Scope{workspace.Everything}
		return who, nil
	default:
		return who, errors.New("there are several workspaces: name one with --workspace")
	}
}
