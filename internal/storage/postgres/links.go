package postgres

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"dateline/internal/audience/shortlink"
	"dateline/internal/audience/site"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/utm"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/db"
)

// errLinkTaken reports that a code is used by another link, which takes a
// collision of 59 bits.
var errLinkTaken = errors.New("the short-link code is already in use")

// savePostLinks creates the missing short links of a post on its targets.
func savePostLinks(ctx context.Context, q *db.Queries, p post.Post, targets []post.Target) error {
	if p.LinkBase == "" {
		return nil
	}
	in := db.InsertPostLinksParams{WorkspaceID: p.WorkspaceID, UserID: idOrNull(p.UserID), PostID: p.ID}
	for _, t := range targets {
		for _, l := range p.Links(t) {
			in.Codes, in.AccountIds, in.Urls = append(in.Codes, l.Code), append(in.AccountIds,
				t.AccountID), append(in.Urls, l.URL)
		}
	}
	if len(in.Codes) == 0 {
		return nil
	}
	n, err := q.InsertPostLinks(ctx, in)
	if err == nil && int(n) != len(in.Codes) {
		err = errLinkTaken
	}
	return err
}

// draftTargets returns targets before they have rows.
func draftTargets(accounts []uuid.UUID, overrides map[uuid.UUID]*post.Override) []post.Target {
	targets := make([]post.Target, len(accounts))
	for i, id := range accounts {
		targets[i] = post.Target{AccountID: id, Override: overrides[id]}
	}
	return targets
}

// CreateLink stores a link created by a user, under an id that its code is
// derived from. taken reports that the code is in use and nothing was stored.
func (s *Store) CreateLink(
	ctx context.Context, n shortlink.Link, resource uuid.UUID, key idempotency.Key,
) (l shortlink.Link, replayed, taken bool, err error) {
	err = s.inTx(ctx, func(q *db.Queries) error {
		earlier, err := claimKey(ctx, q, n.WorkspaceID, key, resource)
		if err != nil {
			return err
		}
		if earlier != uuid.Nil {
			replayed = true
			row, err := q.GetLinkInWorkspace(ctx, db.GetLinkInWorkspaceParams{
				Code: shortlink.CodeForID(earlier), WorkspaceID: n.WorkspaceID,
			})
			l = linkFromRow(row)
			return err
		}
		row, err := q.InsertLink(ctx, db.InsertLinkParams{
			Code: n.Code, WorkspaceID: n.WorkspaceID, UserID: n.UserID, PostID: n.PostID, Url: n.URL, Title: n.Title,
		})
		if noRows(err) {
			return errLinkTaken
		}
		l = linkFromRow(row)
		return err
	})
	if errors.Is(err, errLinkTaken) {
		return shortlink.Link{}, false, true, nil
	}
	if noRows(err) {
		return shortlink.Link{}, false, false, apperr.NotFound("link")
	}
	return l, replayed, false, err
}

// CheckLinkPost returns a not-found error unless the post belongs to the
// workspace.
func (s *Store) CheckLinkPost(ctx context.Context, workspaceID, postID uuid.UUID) error {
	_, err := s.PostInWorkspace(ctx, workspaceID, postID)
	return err
}

// LinkByCode returns a link of any workspace.
func (s *Store) LinkByCode(ctx context.Context, code string) (l shortlink.Link, found bool, err error) {
	row, err := s.q.GetLink(ctx, code)
	if noRows(err) {
		return shortlink.Link{}, false, nil
	}
	l = linkFromRow(row.Link)
	l.UTM = readUTM(row.Utm)
	return l, err == nil, err
}

// readUTM reads a column that the database checks to be an object.
func readUTM(raw []byte) (params utm.Params) {
	_ = json.Unmarshal(raw, &params)
	return params
}

func utmJSON(params utm.Params) json.RawMessage {
	if len(params) == 0 {
		return json.RawMessage("{}")
	}
	raw, _ := json.Marshal(params) // strings
	return raw
}

// LinkInWorkspace returns a link with its clicks.
func (s *Store) LinkInWorkspace(ctx context.Context, workspaceID uuid.UUID, code string) (shortlink.Link, error) {
	row, err := s.q.GetLinkInWorkspace(ctx, db.GetLinkInWorkspaceParams{Code: code, WorkspaceID: workspaceID})
	if noRows(err) {
		return shortlink.Link{}, apperr.NotFound("link")
	}
	if err != nil {
		return shortlink.Link{}, err
	}
	return s.withClicks(ctx, row)
}

// SetLinkDisabled disables or enables a link.
func (s *Store) SetLinkDisabled(
	ctx context.Context, workspaceID uuid.UUID, code string, disabled bool,
) (shortlink.Link, error) {
	row, err := s.q.SetLinkDisabled(ctx, db.SetLinkDisabledParams{
		Code: code, WorkspaceID: workspaceID, Disabled: disabled,
	})
	if noRows(err) {
		return shortlink.Link{}, apperr.NotFound("link")
	}
	if err != nil {
		return shortlink.Link{}, err
	}
	return s.withClicks(ctx, row)
}

func (s *Store) withClicks(ctx context.Context, row db.Link) (shortlink.Link, error) {
	list := []shortlink.Link{linkFromRow(row)}
	err := s.addClicks(ctx, list)
	return list[0], err
}

// Links lists links with their clicks, newest first.
func (s *Store) Links(ctx context.Context, f shortlink.Filter) ([]shortlink.Link, error) {
	rows, err := s.q.ListLinks(ctx, db.ListLinksParams{
		WorkspaceID: f.WorkspaceID, PostID: f.PostID,
		BeforeCode: f.BeforeCode, PageSize: f.Limit,
	})
	if err != nil {
		return nil, err
	}
	list := make([]shortlink.Link, len(rows))
	for i, row := range rows {
		list[i] = linkFromRow(row)
	}
	return list, s.addClicks(ctx, list)
}

// addClicks sets the clicks of links of one workspace.
func (s *Store) addClicks(ctx context.Context, list []shortlink.Link) error {
	if len(list) == 0 {
		return nil
	}
	pages := make([]string, len(list))
	for i, l := range list {
		pages[i] = shortlink.PageName(l.Code)
	}
	rows, err := s.q.ViewPages(ctx, db.ViewPagesParams{SiteID: site.PostsSite(list[0].WorkspaceID).ID, Pages: pages})
	clicks := map[string]int64{}
	for _, r := range rows {
		clicks[r.Page] = r.Clicks
	}
	for i := range list {
		list[i].Clicks = clicks[pages[i]]
	}
	return err
}

func linkFromRow(r db.Link) shortlink.Link {
	return shortlink.Link{
		Code: r.Code, WorkspaceID: r.WorkspaceID, UserID: r.UserID, PostID: r.PostID,
		AccountID: r.AccountID, Network: r.Network,
		URL: r.Url, Title: r.Title, CreatedAt: r.CreatedAt.UTC(), DisabledAt: r.DisabledAt,
	}
}
