package audience

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"dateline/internal/audience/shortlink"
	"dateline/internal/audience/site"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/tx"
)

// errLinkTaken reports that a code is used by another link, which takes a
// collision of 59 bits.
var errLinkTaken = errors.New("the short-link code is already in use")

// CreateLink stores a link created by a user, under an id that its code is
// derived from. taken reports that the code is in use and nothing was stored.
func (s *LinkStore) CreateLink(
	ctx context.Context, n shortlink.Link, resource uuid.UUID, key idempotency.Key,
) (l shortlink.Link, replayed, taken bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, n.WorkspaceID, key, resource)
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
		if tx.NoRows(err) {
			return errLinkTaken
		}
		l = linkFromRow(row)
		return err
	})
	if errors.Is(err, errLinkTaken) {
		return shortlink.Link{}, false, true, nil
	}
	if tx.NoRows(err) {
		return shortlink.Link{}, false, false, apperr.NotFound("link")
	}
	return l, replayed, false, err
}

// CheckLinkPost returns a not-found error unless the post belongs to the
// workspace.
func (s *LinkStore) CheckLinkPost(ctx context.Context, workspaceID, postID uuid.UUID) error {
	_, err := s.q.PostOfLink(ctx, db.PostOfLinkParams{PostID: postID, WorkspaceID: workspaceID})
	return tx.OrNotFound(err, "post")
}

// LinkByCode returns a link of any workspace.
func (s *LinkStore) LinkByCode(ctx context.Context, code string) (l shortlink.Link, found bool, err error) {
	row, err := s.q.GetLink(ctx, code)
	if tx.NoRows(err) {
		return shortlink.Link{}, false, nil
	}
	l = linkFromRow(row.Link)
	l.UTM = column.ReadUTM(row.Utm)
	return l, err == nil, err
}

// LinkInWorkspace returns a link with its clicks.
func (s *LinkStore) LinkInWorkspace(ctx context.Context, workspaceID uuid.UUID, code string) (shortlink.Link, error) {
	row, err := s.q.GetLinkInWorkspace(ctx, db.GetLinkInWorkspaceParams{Code: code, WorkspaceID: workspaceID})
	if tx.NoRows(err) {
		return shortlink.Link{}, apperr.NotFound("link")
	}
	if err != nil {
		return shortlink.Link{}, err
	}
	return s.withClicks(ctx, row)
}

// SetLinkDisabled disables or enables a link.
func (s *LinkStore) SetLinkDisabled(
	ctx context.Context, workspaceID uuid.UUID, code string, disabled bool,
) (shortlink.Link, error) {
	row, err := s.q.SetLinkDisabled(ctx, db.SetLinkDisabledParams{
		Code: code, WorkspaceID: workspaceID, Disabled: disabled,
	})
	if tx.NoRows(err) {
		return shortlink.Link{}, apperr.NotFound("link")
	}
	if err != nil {
		return shortlink.Link{}, err
	}
	return s.withClicks(ctx, row)
}

func (s *LinkStore) withClicks(ctx context.Context, row db.Link) (shortlink.Link, error) {
	list := []shortlink.Link{linkFromRow(row)}
	err := s.addClicks(ctx, list)
	return list[0], err
}

// Links lists links with their clicks, newest first.
func (s *LinkStore) Links(ctx context.Context, f shortlink.Filter) ([]shortlink.Link, error) {
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
func (s *LinkStore) addClicks(ctx context.Context, list []shortlink.Link) error {
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
