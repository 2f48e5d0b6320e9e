package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/message"
	"dateline/internal/infra/timezone"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"

	"dateline/internal/infra/blob"
)

// ServiceStore is the database of the service.
type ServiceStore interface {
	ArticleStore
	SelectorReader
	SelectorEditor
}

// ArticleStore reads articles.
type ArticleStore interface {
	GetWorkspaceDomain(ctx context.Context, workspace uuid.UUID, domain string) (crawl.Domain, error)
	Article(ctx context.Context, workspace, id uuid.UUID) (StoredArticle, error)
	Articles(ctx context.Context, q ArticleQuery) ([]ArticleSummary, error)
	AlsoReportedBy(ctx context.Context, workspace uuid.UUID, a StoredArticle, limit int) ([]SimilarArticle, error)
	Revisions(ctx context.Context, id uuid.UUID, before int64, limit int) ([]Revision, error)
	Revision(ctx context.Context, id uuid.UUID, version int64) (RevisionContent, error)
}

// SelectorReader reads selectors and the extraction state of a domain.
type SelectorReader interface {
	ExtractionHealth(ctx context.Context, domain int) (Health, error)
	ListSelectors(ctx context.Context, domain int, before, limit int) ([]Selectors, error)
	SelectorsVersion(ctx context.Context, domain int, version int) (Selectors, error)
	RecentArticlePages(ctx context.Context, domain int, limit int) ([]PageRef, error)
}

// SelectorEditor changes selectors and extraction settings.
type SelectorEditor interface {
	IsDomainShared(ctx context.Context, workspace uuid.UUID, domain int) (bool, error)
	AddSelectors(ctx context.Context, domain crawl.Domain, workspace uuid.UUID, n Selectors,
		key idempotency.Key) (created Selectors, replayed bool, err error)
	ActivateSelectors(ctx context.Context, domain crawl.Domain, workspace uuid.UUID, version int,
		reason message.Message) (Selectors, error)
	RollBackSelectors(ctx context.Context, domain crawl.Domain, workspace uuid.UUID, reason message.Message,
		onlyIfRequested bool) (previous Selectors, done bool, err error)
	UpdateExtractionSettings(ctx context.Context, domain crawl.Domain, workspace uuid.UUID, zone string,
		learning bool) error
	UpdateMarks(ctx context.Context, domain crawl.Domain, workspace uuid.UUID,
		update func([]Mark) ([]Mark, error)) error
	RequeueArticlePages(ctx context.Context, domain int, limit int) error
	RequestSelectorAction(ctx context.Context, domain int, action selector.Action, reason message.Message) error
}

// Service reads articles and manages selectors for the members of a workspace. Articles
// and selectors belong to their site, which workspaces share: a workspace sees those of
// domains on which it has seeds, and changes the extraction of domains that no other
// workspace crawls.
type Service struct {
	Store    ServiceStore
	Pages    Pages
	Sites    *SiteCache
	Learners LearningStarter
	Log      *slog.Logger
}

// List lists articles, the newest first.
func (s *Service) List(ctx context.Context, who workspace.Principal, w ArticleQuery) ([]ArticleSummary, error) {
	w.Workspace = who.WorkspaceID
	if w.Domain != "" {
		if _, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, w.Domain); err != nil {
			return nil, err
		}
	}
	return s.Store.Articles(ctx, w)
}

// Get returns an article.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (StoredArticle, error) {
	return s.Store.Article(ctx, who.WorkspaceID, id)
}

// Raw returns the raw page of the newest version of an article, or of the given one.
func (s *Service) Raw(ctx context.Context, who workspace.Principal, id uuid.UUID, version int64) ([]byte, error) {
	a, err := s.Store.Article(ctx, who.WorkspaceID, id)
	if err != nil {
		return nil, err
	}
	if a.Reservations.NoArchive {
		return nil, &apperr.Error{
			Kind: apperr.KindConflict, Code: "noarchive",
			Message: "The publisher does not allow copies of this page (noarchive). Open it on its site.",
		}
	}
	if version > 0 {
		r, err := s.Store.Revision(ctx, id, version)
		if err != nil {
			return nil, err
		}
		a.ObjectKey = r.ObjectKey
	}
	page, err := loadPage(ctx, s.Pages, PageRef{ObjectKey: a.ObjectKey}, Health{})
	if errors.Is(err, blob.ErrNotFound) {
		err = apperr.NotFound("page")
	}
	return page.HTML, err
}

// AlsoReportedBy lists near-duplicates of an article.
func (s *Service) AlsoReportedBy(
	ctx context.Context, who workspace.Principal, id uuid.UUID, limit int,
) ([]SimilarArticle, error) {
	a, err := s.Store.Article(ctx, who.WorkspaceID, id)
	if err != nil {
		return nil, err
	}
	return s.Store.AlsoReportedBy(ctx, who.WorkspaceID, a, limit)
}

// Revisions lists the versions of an article, the newest first.
func (s *Service) Revisions(
	ctx context.Context, who workspace.Principal, id uuid.UUID, before int64, limit int,
) ([]Revision, error) {
	if _, err := s.Store.Article(ctx, who.WorkspaceID, id); err != nil {
		return nil, err
	}
	if before <= 0 {
		before = math.MaxInt64
	}
	return s.Store.Revisions(ctx, id, before, limit)
}

// Revision returns a version of an article, and the paragraphs that were added and
// removed since the previous version.
func (s *Service) Revision(
	ctx context.Context, who workspace.Principal, id uuid.UUID, version int64,
) (r RevisionContent, added, removed []string, err error) {
	if _, err = s.Store.Article(ctx, who.WorkspaceID, id); err != nil {
		return r, nil, nil, err
	}
	if r, err = s.Store.Revision(ctx, id, version); err != nil || version <= 1 {
		return r, nil, nil, err
	}
	before, err := s.Store.Revision(ctx, id, version-1)
	if err != nil {
		return r, nil, nil, err
	}
	return r, missing(r.Text, before.Text), missing(before.Text, r.Text), nil
}

// missing lists the paragraphs of text that other does not contain.
func missing(text, other string) (out []string) {
	has := map[string]int{}
	for p := range strings.SplitSeq(other, "\n\n") {
		has[p]++
	}
	for p := range strings.SplitSeq(text, "\n\n") {
		if has[p]--; has[p] < 0 && p != "" {
			out = append(out, p)
		}
	}
	return out
}

// Health returns the extraction state of a domain.
func (s *Service) Health(ctx context.Context, who workspace.Principal, domain string) (Health, error) {
	d, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, domain)
	if err != nil {
		return Health{}, err
	}
	return s.Store.ExtractionHealth(ctx, d.ID)
}

// UpdateSettings sets the time zone of a domain's dates, and whether selectors are
// learned. Nil leaves a setting unchanged.
func (s *Service) UpdateSettings(
	ctx context.Context, who workspace.Principal, domain string, zone *string, learning *bool,
) (Health, error) {
	d, err := s.editableDomain(ctx, who, domain)
	if err != nil {
		return Health{}, err
	}
	h, err := s.Store.ExtractionHealth(ctx, d.ID)
	if err != nil {
		return h, err
	}
	if zone != nil {
		if _, err := timezone.Load(*zone); err != nil {
			return h, apperr.InvalidFields(apperr.FieldError{
				Field: "time_zone", Code: "unknown_time_zone",
				Message: "Unknown time zone. Use an IANA name such as Asia/Ho_Chi_Minh, or an empty string for that " +
					"of the site's country.",
			})
		}
		h.Zone = *zone
	}
	if learning != nil {
		h.LearningEnabled = *learning
	}
	if err := s.Store.UpdateExtractionSettings(ctx, d, who.WorkspaceID, h.Zone, h.LearningEnabled); err != nil {
		return h, err
	}
	s.Sites.Invalidate(ctx, d.ID)
	return h, nil
}

// Versions lists the versions of a domain's selectors, the newest first.
func (s *Service) Versions(
	ctx context.Context, who workspace.Principal, domain string, before, limit int,
) ([]Selectors, error) {
	d, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, domain)
	if err != nil {
		return nil, err
	}
	if before <= 0 {
		before = math.MaxInt32
	}
	return s.Store.ListSelectors(ctx, d.ID, before, limit)
}

// Version returns one version of a domain's selectors.
func (s *Service) Version(ctx context.Context, who workspace.Principal, domain string, version int) (Selectors, error) {
	d, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, domain)
	if err != nil {
		return Selectors{}, err
	}
	return s.Store.SelectorsVersion(ctx, d.ID, version)
}

// SelectorDraft is a version of selectors written by a member.
type SelectorDraft struct {
	Config   selector.Config
	Note     string
	Activate bool
}

// AddSelectors stores a version of selectors written by a member.
func (s *Service) AddSelectors(
	ctx context.Context, who workspace.Principal, domain string, n SelectorDraft, key idempotency.Key,
) (Selectors, bool, error) {
	d, err := s.editableDomain(ctx, who, domain)
	if err != nil {
		return Selectors{}, false, err
	}
	for i := range n.Config.Variants {
		n.Config.Variants[i].Scores = nil // only validation sets scores
	}
	if err := invalid(n.Config.Validate()); err != nil {
		return Selectors{}, false, err
	}
	state := Candidate
	if n.Activate {
		state = Active
	}
	reason := message.New("written_by_member", "Written by a member.")
	if n.Note != "" {
		reason = message.New("note_of_member", "{note}", n.Note)
	}
	made, replayed, err := s.Store.AddSelectors(ctx, d, who.WorkspaceID,
		Selectors{
			Config: n.Config, CreatedBy: CreatedByMember, Actor: "user:" + who.UserID.String(), State: state,
			Reason: reason,
		}, key)
	if err == nil && n.Activate {
		s.Sites.Invalidate(ctx, d.ID)
	}
	return made, replayed, err
}

// Activate activates a version.
func (s *Service) Activate(
	ctx context.Context, who workspace.Principal, domain string, version int,
) (Selectors, error) {
	d, err := s.editableDomain(ctx, who, domain)
	if err != nil {
		return Selectors{}, err
	}
	made, err := s.Store.ActivateSelectors(ctx, d, who.WorkspaceID, version,
		message.New("activated_by_member", "Activated by a member."))
	if err == nil {
		s.Sites.Invalidate(ctx, d.ID)
	}
	return made, err
}

// RollBack activates the previous version. If there is none, it returns version 0 and
// the site goes back to generic extraction.
func (s *Service) RollBack(ctx context.Context, who workspace.Principal, domain string) (Selectors, error) {
	d, err := s.editableDomain(ctx, who, domain)
	if err != nil {
		return Selectors{}, err
	}
	back, done, err := s.Store.RollBackSelectors(ctx, d, who.WorkspaceID,
		message.New("rolled_back_by_member", "Rolled back by a member."), false)
	if err == nil && !done {
		err = &apperr.Error{
			Kind: apperr.KindConflict, Code: "no_selectors",
			Message: "The site has no active selectors to roll back.",
		}
	}
	if err == nil {
		s.Sites.Invalidate(ctx, d.ID)
	}
	return back, err
}

// Relearn requests that selectors are learned again.
func (s *Service) Relearn(ctx context.Context, who workspace.Principal, domain string) error {
	d, err := s.editableDomain(ctx, who, domain)
	if err != nil {
		return err
	}
	if err := s.Store.RequestSelectorAction(ctx, d.ID, selector.ActionLearn,
		message.New("requested_by_member", "Requested by a member.")); err != nil {
		return err
	}
	if err := s.Learners.StartSelectorLearning(context.WithoutCancel(ctx), d.Name); err != nil {
		s.Log.Warn("could not start the learning workflow; it is retried within minutes", "domain", d.Name, "error",
			err)
	}
	return nil
}

// editableDomain returns a domain whose extraction the workspace may change.
func (s *Service) editableDomain(ctx context.Context, who workspace.Principal, domain string) (crawl.Domain, error) {
	d, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, domain)
	if err != nil {
		return d, err
	}
	shared, err := s.Store.IsDomainShared(ctx, who.WorkspaceID, d.ID)
	if err == nil && shared {
		err = &apperr.Error{
			Kind: apperr.KindConflict, Code: "shared_domain",
			Message: "Other workspaces crawl this domain too, so one workspace cannot change its extraction.",
		}
	}
	return d, err
}

func invalid(err error) error {
	if err == nil {
		return nil
	}
	return apperr.InvalidFields(apperr.FieldError{
		Field: "config", Code: "invalid_selectors",
		Message: strings.TrimPrefix(err.Error(), selector.ErrConfig.Error()+": "),
	})
}
