// Package savedsearch keeps searches: to be told of new articles, and to read them as
// a feed.
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

// Search is a search that somebody keeps.
type Search struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	Name        string
	Query       string
	Mode        search.Mode
	Filters     search.Filters // without times and bounds
	Alert       bool
	FeedHash    []byte // of the feed's token; nil: there is no feed
	Version     int64
	CreatedAt   time.Time
	UpdatedAt   time.Time

	AlertCount    int64      // articles that it told of
	LastAlertedAt *time.Time // of the newest of them
}

// Match is an article that a search told of.
type Match struct {
	ArticleID uuid.UUID
	Title     string
	URL       string
	Domain    string
	AlertedAt time.Time
}

// Store keeps saved searches.
type Store interface {
	CreateSavedSearch(ctx context.Context, s Search, most int, key idempotency.Key) (created Search, replayed bool, err error)
	SavedSearches(ctx context.Context, workspace uuid.UUID) ([]Search, error)
	SavedSearch(ctx context.Context, workspace, id uuid.UUID) (Search, error)
	UpdateSavedSearch(ctx context.Context, workspace, id uuid.UUID, ifVersion int64, change func(*Search) error) (Search, error)
	DeleteSavedSearch(ctx context.Context, workspace, id uuid.UUID) error
	SavedSearchMatches(ctx context.Context, workspace, id, before uuid.UUID, most int) ([]Match, error)
	SetFeed(ctx context.Context, workspace, id uuid.UUID, hash []byte) (Search, error)
	SavedSearchWithFeed(ctx context.Context, id uuid.UUID) (Search, error)
	DomainNames(ctx context.Context, workspace uuid.UUID) ([]string, error)
}

// Meter is told of searches.
type Meter interface {
	// SearchDone notes a search by its mode: ok or failed.
	SearchDone(ctx context.Context, mode, result string, took time.Duration)
}

// Service is what members do with the search.
type Service struct {
	Store             Store
	Engine            search.Engine
	Meter             Meter // nil: nobody is told
	SemanticAvailable bool  // there is an embedder: modes differ
}

// maxPerWorkspace of one workspace: every new article is held against those that alert.
const maxPerWorkspace = 200

// Search searches the articles of the domains on which a workspace has seeds.
func (s *Service) Search(ctx context.Context, workspace uuid.UUID, r search.Request) (search.Response, error) {
	domains, err := s.Store.DomainNames(ctx, workspace)
	if err != nil {
		return search.Response{}, err
	}
	r.Filters.VisibleDomains = append([]string{}, domains...)
	r = r.WithDefaults()
	begun := time.Now()
	a, err := s.Engine.Search(ctx, r)
	if s.Meter != nil {
		result := "ok"
		if err != nil {
			result = "failed"
		}
		s.Meter.SearchDone(ctx, string(r.Mode), result, time.Since(begun))
	}
	return a, err
}

// Create keeps a search.
func (s *Service) Create(ctx context.Context, who workspace.Principal, n Search, key idempotency.Key) (Search, bool, error) {
	if err := validate(&n); err != nil {
		return Search{}, false, err
	}
	n.ID, n.WorkspaceID, n.UserID = uuid.Must(uuid.NewV7()), who.WorkspaceID, who.UserID
	return s.Store.CreateSavedSearch(ctx, n, maxPerWorkspace, key)
}

// List lists a workspace's searches, the oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal) ([]Search, error) {
	return s.Store.SavedSearches(ctx, who.WorkspaceID)
}

// Get reads a search.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Search, error) {
	return s.Store.SavedSearch(ctx, who.WorkspaceID, id)
}

// Update changes a search.
func (s *Service) Update(ctx context.Context, who workspace.Principal, id uuid.UUID, ifVersion int64, change func(*Search)) (Search, error) {
	return s.Store.UpdateSavedSearch(ctx, who.WorkspaceID, id, ifVersion, func(n *Search) error {
		change(n)
		return validate(n)
	})
}

// Delete forgets a search, and ends its feed.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteSavedSearch(ctx, who.WorkspaceID, id)
}

// Matches lists what a search told of, below an article's id; the zero id: from
// the newest on.
func (s *Service) Matches(ctx context.Context, who workspace.Principal, id, before uuid.UUID, most int) ([]Match, error) {
	if _, err := s.Store.SavedSearch(ctx, who.WorkspaceID, id); err != nil {
		return nil, err
	}
	if before == uuid.Nil {
		before = uuid.Max
	}
	return s.Store.SavedSearchMatches(ctx, who.WorkspaceID, id, before, most)
}

// CreateFeed makes a new token for a search's feed, shown this once. One that was
// given out before leads nowhere from then on.
func (s *Service) CreateFeed(ctx context.Context, who workspace.Principal, id uuid.UUID) (secret.Text, error) {
	raw := make([]byte, 24)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	token := base64.RawURLEncoding.EncodeToString(raw)
	_, err := s.Store.SetFeed(ctx, who.WorkspaceID, id, hashToken(token))
	return secret.NewText(token), err
}

// DeleteFeed revokes the token.
func (s *Service) DeleteFeed(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	_, err := s.Store.SetFeed(ctx, who.WorkspaceID, id, nil)
	return err
}

// hashToken is what is kept of a token: it is random, so nothing slower is needed.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

const (
	// maxFeedItems is how many articles a feed has.
	maxFeedItems = 50
	// maxFeedAge is how old they are at most where they are found by their meaning:
	// by that everything is near or far, and nothing is out.
	maxFeedAge = 30 * 24 * time.Hour
)

// Feed gives the newest articles of a search, by words; by meaning, the best of
// the last weeks in the order of time. It gives them to whoever has its token. A wrong
// token and a search that is none are the same to the asker.
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

// Matches says whether a new article is one that the search looks for.
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
		problems = append(problems, apperr.FieldError{Field: "name", Code: "invalid", Message: "Give a name of 1 to 200 characters."})
	}
	if utf8.RuneCountInString(n.Query) > search.MaxQueryLength || !isStorable(n.Query) {
		problems = append(problems, apperr.FieldError{Field: "query", Code: "invalid", Message: "A query has at most 500 characters."})
	}
	switch n.Mode {
	case "":
		n.Mode = search.Keyword
	case search.Keyword, search.Hybrid:
	case search.Semantic:
		if n.Alert {
			problems = append(problems, apperr.FieldError{Field: "alert", Code: "needs_words", Message: "Alerts go by words: an article is near or far by its meaning, but never a match. Choose keyword or hybrid."})
		}
	default:
		problems = append(problems, apperr.FieldError{Field: "mode", Code: "invalid", Message: "The modes are keyword, semantic and hybrid."})
	}
	for field, values := range map[string][]string{"domains": n.Filters.Domains, "languages": n.Filters.Languages, "sections": n.Filters.Sections, "tags": n.Filters.Tags, "authors": n.Filters.Authors} {
		if len(values) > maxFilterValues || slices.ContainsFunc(values, func(v string) bool { return v == "" || len(v) > 1000 || !isStorable(v) }) {
			problems = append(problems, apperr.FieldError{Field: field, Code: "invalid", Message: "Give at most 50 values, none of them empty."})
		}
	}
	f := n.Filters
	if len(search.Parse(n.Query).Included()) == 0 && len(f.Domains)+len(f.Languages)+len(f.Sections)+len(f.Tags)+len(f.Authors) == 0 && n.Alert {
		problems = append(problems, apperr.FieldError{Field: "query", Code: "required", Message: "Name a word or a filter: alerts of every article would be no alerts."})
	}
	if len(problems) > 0 {
		slices.SortFunc(problems, func(a, b apperr.FieldError) int { return strings.Compare(a.Field, b.Field) })
		return apperr.InvalidFields(problems...)
	}
	return nil
}

func isStorable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
