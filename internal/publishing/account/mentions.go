package account

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/platforms/network"
)

// Limits of searches for accounts to mention.
const (
	maxMentions       = 8
	mentionsTimeout   = 4 * time.Second
	mentionsTTL       = 5 * time.Minute
	maxCachedMentions = 500
	mentionsPerMin    = 30 // by account
)

// Mentions searches for accounts to mention. It caches searches, which repeat while
// people type, and limits them: they use the same rate limits of the network as
// publishing.
type Mentions struct {
	Accounts *Service

	mu      sync.Mutex
	cache   map[string]foundMentions
	started map[uuid.UUID][]time.Time
}

type foundMentions struct {
	list  []network.Mention
	until time.Time
}

// Mention is an account that a text can mention.
type Mention = network.Mention

// Find searches the network of an account for accounts that its posts can
// mention. The list is empty if the network has no search.
func (m *Mentions) Find(
	ctx context.Context, who workspace.Principal, id uuid.UUID, query string,
) ([]network.Mention, error) {
	if _, err := m.Accounts.Get(ctx, who, id); err != nil {
		return nil, err
	}
	a, use, err := m.Accounts.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	adapter, _ := m.Accounts.Connectors.Get(a.Network)
	finder, ok := adapter.(network.MentionFinder)
	query = strings.TrimSpace(strings.TrimPrefix(query, "@"))
	if !ok || query == "" || a.Status != Connected {
		return nil, nil
	}
	key, now := id.String()+" "+strings.ToLower(query), time.Now()
	if list, ok := m.cached(key, now); ok {
		return list, nil
	}
	if !m.allow(id, now) {
		return nil, &apperr.Error{
			Kind: apperr.KindConflict, Code: "too_many_searches",
			Message: "Too many searches for this account. Try again in a minute.",
		}
	}
	ctx, cancel := context.WithTimeout(ctx, mentionsTimeout)
	defer cancel()
	list, err := finder.FindMentions(ctx, use, query, maxMentions)
	if err != nil {
		return nil, connectError(err, "q")
	}
	m.keep(key, list, now)
	return list, nil
}

func (m *Mentions) cached(key string, now time.Time) ([]network.Mention, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.cache[key]
	return found.list, ok && now.Before(found.until)
}

func (m *Mentions) keep(key string, list []network.Mention, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cache == nil || len(m.cache) >= maxCachedMentions {
		m.cache = map[string]foundMentions{}
	}
	m.cache[key] = foundMentions{list, now.Add(mentionsTTL)}
}

// allow reports whether an account may search now.
func (m *Mentions) allow(id uuid.UUID, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.started == nil {
		m.started = map[uuid.UUID][]time.Time{}
	}
	var recent []time.Time
	for _, at := range m.started[id] {
		if now.Sub(at) < time.Minute {
			recent = append(recent, at)
		}
	}
	if len(recent) >= mentionsPerMin {
		m.started[id] = recent
		return false
	}
	m.started[id] = append(recent, now)
	return true
}
