package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/blob"
	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/selector"
)

const (
	maxReviewedPages = 50
	maxMarks         = 200 // of a site
	maxMarkedText    = 20_000
	maxMarkedElement = 200
	maxSample        = 200
	// reviewParallel is the number of pages of a review that are extracted at a time.
	reviewParallel = 4
)

// PageReview is how a page of a site is extracted at present.
type PageReview struct {
	Page    PageRef
	Article *article.Article // nil: none
	Error   string           // why extraction failed
	Reason  NoArticleReason  // likewise
	Blocks  []extract.PageBlock
}

// Review extracts the newest pages of a domain that contain an article, and explains what belongs to their text and
// what not. Nothing is stored.
func (s *Service) Review(ctx context.Context, who workspace.Principal, domain string) ([]PageReview, error) {
	d, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, domain)
	if err != nil {
		return nil, err
	}
	refs, err := s.Store.RecentArticlePages(ctx, d.ID, maxReviewedPages)
	if err != nil {
		return nil, err
	}
	return s.review(ctx, d.ID, refs)
}

// ReviewPage explains which blocks of the page of an article belong to its text, and why the others do not.
func (s *Service) ReviewPage(
	ctx context.Context, who workspace.Principal, domain string, id uuid.UUID,
) (out PageReview, err error) {
	d, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, domain)
	if err != nil {
		return out, err
	}
	a, err := s.Store.Article(ctx, who.WorkspaceID, id)
	if err != nil {
		return out, err
	}
	if a.DomainID != d.ID {
		return out, apperr.NotFound("article")
	}
	all, err := s.review(ctx, d.ID, []PageRef{{
		Article: a.ID, URL: a.URL, ObjectKey: a.ObjectKey, FetchedAt: a.FetchedAt, Title: a.Title,
	}})
	if err != nil {
		return out, err
	}
	return all[0], nil
}

func (s *Service) review(ctx context.Context, domain int, refs []PageRef) ([]PageReview, error) {
	h, err := s.Store.ExtractionHealth(ctx, domain)
	if err != nil {
		return nil, err
	}
	_, sel, err := s.Sites.Get(ctx, domain)
	if err != nil {
		return nil, err
	}
	if sel == nil {
		sel = &selector.Selector{} // generic extraction
	}
	out := make([]PageReview, len(refs))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(reviewParallel)
	for i, r := range refs {
		work.Go(func() (err error) {
			out[i], err = s.reviewPage(ctx, sel, r, h)
			return err
		})
	}
	return out, work.Wait()
}

func (s *Service) reviewPage(
	ctx context.Context, sel *selector.Selector, r PageRef, h Health,
) (out PageReview, err error) {
	out.Page = r
	page, err := loadPage(ctx, s.Pages, r, h)
	if errors.Is(err, blob.ErrNotFound) {
		out.Error, out.Reason = "the raw page is no longer stored", ReasonPageDeleted
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Article, out.Blocks, err = explainSafely(ctx, sel, page)
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		out.Error, out.Reason = err.Error(), reasonOf(err)
	}
	return out, nil
}

// explainSafely recovers from panics caused by hostile HTML.
func explainSafely(
	ctx context.Context, sel *selector.Selector, page extract.Page,
) (a *article.Article, blocks []extract.PageBlock, err error) {
	defer func() {
		if v := recover(); v != nil {
			a, blocks, err = nil, nil, fmt.Errorf("extraction panicked: %v", v)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, extractTimeout, extract.ErrTooSlow)
	defer cancel()
	doc, err := extract.Parse(ctx, page, extract.DefaultLimits())
	if err != nil {
		return nil, nil, err
	}
	return sel.Explain(ctx, doc, page)
}

// MarkDraft is what an editor marks: a text wherever it is, or all elements of a kind.
type MarkDraft struct {
	Text    string
	Element string // as in extract.PageBlock.Elements
	IsBody  bool
}

func (m MarkDraft) validate() error {
	refuse := func(field, code, message string) error {
		return apperr.InvalidFields(apperr.FieldError{Field: field, Code: code, Message: message})
	}
	switch {
	case (m.Text == "") == (m.Element == ""):
		return refuse("text", "one_required", "Mark either a text or an element.")
	case len(m.Text) > maxMarkedText:
		return refuse("text", "too_long", fmt.Sprintf("A text has at most %d bytes.", maxMarkedText))
	case m.Text != "" && extract.TextHash(m.Text) == 0:
		return refuse("text", "no_letters", "The text has no letters or digits.")
	case len(m.Element) > maxMarkedElement || m.Element != "" && extract.TextHash(m.Element) == 0:
		return refuse("element", "invalid", "Use an element that a block of the page names.")
	}
	return nil
}

// AddMark marks a text or element of a domain's pages as part of the text of articles, or not. It replaces an earlier
// mark of the same. The newest pages are extracted again.
func (s *Service) AddMark(ctx context.Context, who workspace.Principal, domain string, m MarkDraft) (Health, error) {
	if err := m.validate(); err != nil {
		return Health{}, err
	}
	made := Mark{
		Mark:   extract.Mark{Element: m.Element, IsBody: m.IsBody},
		Sample: truncate(strings.Join(strings.Fields(m.Text), " "), maxSample),
		Actor:  "user:" + who.UserID.String(), CreatedAt: time.Now().UTC(),
	}
	if m.Text != "" {
		made.Text = extract.TextHash(m.Text)
	}
	return s.updateMarks(ctx, who, domain, func(all []Mark) ([]Mark, error) {
		all = slices.DeleteFunc(all, func(m Mark) bool { return m.ID() == made.ID() })
		if len(all) >= maxMarks {
			return nil, &apperr.Error{
				Kind: apperr.KindConflict, Code: "too_many_marks",
				Message: fmt.Sprintf("A domain has at most %d marks. Delete some, or mark elements instead of texts.",
					maxMarks),
			}
		}
		return slices.Insert(all, 0, made), nil
	})
}

// DeleteMark deletes a mark of a domain. The newest pages are extracted again.
func (s *Service) DeleteMark(ctx context.Context, who workspace.Principal, domain, id string) (Health, error) {
	return s.updateMarks(ctx, who, domain, func(all []Mark) ([]Mark, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(m Mark) bool { return m.ID() == id })
		if len(left) == len(all) {
			return nil, apperr.NotFound("mark")
		}
		return left, nil
	})
}

func (s *Service) updateMarks(
	ctx context.Context, who workspace.Principal, domain string, update func([]Mark) ([]Mark, error),
) (Health, error) {
	d, err := s.editableDomain(ctx, who, domain)
	if err != nil {
		return Health{}, err
	}
	if err := s.Store.UpdateMarks(ctx, d, who.WorkspaceID, update); err != nil {
		return Health{}, err
	}
	s.Sites.Invalidate(ctx, d.ID)
	if err := s.Store.RequeueArticlePages(ctx, d.ID, maxReviewedPages); err != nil {
		return Health{}, err
	}
	return s.Store.ExtractionHealth(ctx, d.ID)
}
