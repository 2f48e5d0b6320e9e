// Package savedsearch manages saved searches: alerts for new articles, and feeds.
package savedsearch

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/search"
)

// Search is a saved search.
type Search struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	Name        string
	Query       string
	Mode        search.Mode
	Filters     search.Filters // without time range and visible domains
	Alert       bool
	FeedHash    []byte // hash of the feed token; nil: no feed
	Version     int64
	CreatedAt   time.Time
	UpdatedAt   time.Time

	AlertCount    int64      // articles for which it alerted
	LastAlertedAt *time.Time // of the newest of them
}

// Match is an article for which a search alerted.
type Match struct {
	ArticleID uuid.UUID
	Title     string
	URL       string
	Domain    string
	AlertedAt time.Time
}

// Store stores saved searches.
type Store interface {
	CreateSavedSearch(ctx context.Context, s Search, limit int, key idempotency.Key) (created Search, replayed bool,
		err error)
	SavedSearches(ctx context.Context, workspace uuid.UUID) ([]Search, error)
	SavedSearch(ctx context.Context, workspace, id uuid.UUID) (Search, error)
	UpdateSavedSearch(ctx context.Context, workspace, id uuid.UUID, ifVersion int64,
		change func(*Search) error) (Search, error)
	DeleteSavedSearch(ctx context.Context, workspace, id uuid.UUID) error
	SavedSearchMatches(ctx context.Context, workspace, id, before uuid.UUID, limit int) ([]Match, error)
	SetFeed(ctx context.Context, workspace, id uuid.UUID, hash []byte) (Search, error)
	SavedSearchWithFeed(ctx context.Context, id uuid.UUID) (Search, error)
	DomainNames(ctx context.Context, workspace uuid.UUID) ([]string, error)
}

// Meter measures searches.
type Meter interface {
	// SearchDone records a search by mode and result: ok or failed.
	SearchDone(ctx context.Context, mode, result string, took time.Duration)
}

// Service searches articles and manages saved searches for the members of a workspace.
type Service struct {
	Store             Store
	Engine            search.Engine
	Meter             Meter // optional
	SemanticAvailable bool  // an embedder is configured
}

// maxPerWorkspace limits the saved searches of a workspace: every new article is matched
// against all of them.
const maxPerWorkspace = 200

// Search searches the articles of the domains on which a workspace has seeds.
func (s *Service) Search(ctx context.Context, workspace uuid.UUID, r search.Request) (search.Response, error) {
	domains, err := s.Store.DomainNames(ctx, workspace)
	if err != nil {
		return search.Response{}, err
	}
	r.Filters.VisibleDomains = append([]string{}, domains...)
	r = r.WithDefaults()
	start := time.Now()
	a, err := s.Engine.Search(ctx, r)
	if s.Meter != nil {
		result := "ok"
		if err != nil {
			result = "failed"
		}
		s.Meter.SearchDone(ctx, string(r.Mode), result, time.Since(start))
	}
	return a, err
}

// Create creates a saved search.
func (s *Service) Create(
	ctx context.Context, who workspace.Principal, n Search, key idempotency.Key,
) (Search, bool, error) {
	if err := validate(&n); err != nil {
		return Search{}, false, err
	}
	n.ID, n.WorkspaceID, n.UserID = uuid.Must(uuid.NewV7()), who.WorkspaceID, who.UserID
	return s.Store.CreateSavedSearch(ctx, n, maxPerWorkspace, key)
}

// List lists the saved searches of a workspace, the oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal) ([]Search, error) {
	return s.Store.SavedSearches(ctx, who.WorkspaceID)
}

// Get returns a saved search.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Search, error) {
	return s.Store.SavedSearch(ctx, who.WorkspaceID, id)
}

// Update changes a saved search.
func (s *Service) Update(
	ctx context.Context, who workspace.Principal, id uuid.UUID, ifVersion int64, change func(*Search),
) (Search, error) {
	return s.Store.UpdateSavedSearch(ctx, who.WorkspaceID, id, ifVersion, func(n *Search) error {
		change(n)
		return validate(n)
	})
}

// Delete deletes a saved search and its feed.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteSavedSearch(ctx, who.WorkspaceID, id)
}

// Matches lists the articles for which a search alerted, the newest first, starting
// below an article id. The zero id starts with the newest.
func (s *Service) Matches(
	ctx context.Context, who workspace.Principal, id, before uuid.UUID, limit int,
) ([]Match, error) {
	if _, err := s.Store.SavedSearch(ctx, who.WorkspaceID, id); err != nil {
		return nil, err
	}
	if before == uuid.Nil {
		before = uuid.Max
	}
	return s.Store.SavedSearchMatches(ctx, who.WorkspaceID, id, before, limit)
}

// CreateFeed creates a token for the feed of a search, which is shown only once, and
// revokes the previous one.
func (s *Service) CreateFeed(ctx context.Context, who workspace.Principal, id uuid.UUID) (secret.Text, error) {
	raw := make([]byte, 24)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	token := base64.RawURLEncoding.EncodeToString(raw)
	_, err := s.Store.SetFeed(ctx, who.WorkspaceID, id, hashToken(token))
	return secret.NewText(token), err
}

// DeleteFeed revokes the feed token.
func (s *Service) DeleteFeed(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	_, err := s.Store.SetFeed(ctx, who.WorkspaceID, id, nil)
	return err
}

// hashToken returns the stored form of a token. Tokens are random, so a fast hash is
// sufficient.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

const (
	// maxFeedItems is the number of articles in a feed.
	maxFeedItems = 50
	// maxFeedAge limits semantic feeds, because every article matches to some degree.
	maxFeedAge = 30 * 24 * time.Hour
)

// Feed returns the newest articles of a saved search to anyone who has its token.
// Semantic searches return the best matches of the last weeks, sorted by time. A wrong
// token and an unknown search return the same error.
func (s *Service) Feed(ctx context.Context, id uuid.UUID, token string) (Search, []search.Hit, error) {
	n, err := s.Store.SavedSearchWithFeed(ctx, id)
	if err != nil {
		return Search{}, nil, err
	}
	if subtle.ConstantTimeCompare(n.FeedHash, hashToken(token)) != 1 {
		return Search{}, nil, apperr.NotFound("feed")
	}
	r := search.Request{Text: n.Query, Mode: n.Mode, Filters: n.Filters, Sort: search.ByTime, Limit: maxFeedItems}
	if n.Mode != search.Keyword && len(search.Parse(n.Query).Included()) > 0 {
		r.Sort, r.Filters.From = search.ByRelevance, time.Now().Add(-maxFeedAge)
	}
	a, err := s.Search(ctx, n.WorkspaceID, r)
	slices.SortStableFunc(a.Hits, func(a, b search.Hit) int { return b.Published.Compare(a.Published) })
	return n, a.Hits, err
}

// Matches reports whether a new article matches the saved search.
func (n Search) Matches(q search.Query, t *search.Text, d search.Document) bool {
	return n.Filters.Matches(d) && q.Matches(t)
}

const (
	maxNameLength   = 200
	maxFilterValues = 50
)

func validate(n *Search) error {
	var problems []apperr.FieldError
	n.Name = strings.TrimSpace(n.Name)
	if n.Name == "" || utf8.RuneCountInString(n.Name) > maxNameLength || !isStorable(n.Name) {
		problems = append(problems, apperr.FieldError{
			Field: "name", Code: "invalid", Message: "name must have 1 to 200 characters.",
		})
	}
	if utf8.RuneCountInString(n.Query) > search.MaxQueryLength || !isStorable(n.Query) {
		problems = append(problems, apperr.FieldError{
			Field: "query", Code: "invalid", Message: "query must have at most 500 characters.",
		})
	}
	switch n.Mode {
	case "":
		n.Mode = search.Keyword
	case search.Keyword, search.Hybrid:
	case search.Semantic:
		if n.Alert {
			problems = append(problems, apperr.FieldError{
				Field: "alert", Code: "needs_words",
				Message: "Alerts need exact matches, which semantic search does not have. Use keyword or hybrid.",
			})
		}
	default:
		problems = append(problems, apperr.FieldError{
			Field: "mode", Code: "invalid", Message: "mode must be keyword, semantic or hybrid.",
		})
	}
	for field, values := range map[string][]string{
		"domains": n.Filters.Domains, "languages": n.Filters.Languages,
		"sections": n.Filters.Sections, "tags": n.Filters.Tags, "authors": n.Filters.Authors,
	} {
		if len(values) > maxFilterValues ||
			slices.ContainsFunc(values, func(v string) bool { return v == "" || len(v) > 1000 || !isStorable(v) }) {
			problems = append(problems, apperr.FieldError{
				Field: field, Code: "invalid", Message: "Use at most 50 values, none of them empty.",
			})
		}
	}
	f := n.Filters
	if len(search.Parse(n.Query).Included()) == 0 && len(f.Domains)+len(f.Languages)+len(f.Sections)+len(f.Tags)+
		len(f.Authors) == 0 && n.Alert {
		problems = append(problems, apperr.FieldError{
			Field: "query", Code: "required", Message: "Add a word or a filter: alerts cannot match every article.",
		})
	}
	if len(problems) > 0 {
		slices.SortFunc(problems, func(a, b apperr.FieldError) int { return strings.Compare(a.Field, b.Field) })
		return apperr.InvalidFields(problems...)
	}
	return nil
}

func isStorable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
