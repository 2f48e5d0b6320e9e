package site

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/visitor"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/timezone"
)

// Active is a site with the settings for counting and identifying visitors.
type Active struct {
	Site
	CounterSite counter.Site
	VisitorSite visitor.Site
}

// DirectoryStore reads the sites of all workspaces.
type DirectoryStore interface {
	SitesVersion(ctx context.Context) (int64, error)
	AllSites(ctx context.Context) ([]Site, error)
}

// Directory holds all sites in memory, so that no hit waits for the database.
// It is safe for concurrent use.
type Directory struct {
	Store  DirectoryStore
	Sealer *secret.Sealer
	Log    *slog.Logger

	refreshMu sync.Mutex
	current   atomic.Pointer[siteIndex]
}

type siteIndex struct {
	version  int64
	byKey    map[string]*Active
	byID     map[uuid.UUID]*Active
	bySecret map[string]*Active // by its hash
	byDomain map[string]*Active // the oldest site of each
}

// refreshInterval is how often the directory checks for changes by other
// processes.
const refreshInterval = time.Second

// Run refreshes the directory until ctx ends.
func (d *Directory) Run(ctx context.Context) {
	ticker := time.NewTicker(refreshInterval)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := d.Refresh(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			d.Log.Warn("failed to refresh sites; using the previous settings", "error", err)
		}
		failing = err != nil
	}
}

// Refresh reads the sites if they have changed.
func (d *Directory) Refresh(ctx context.Context) error {
	d.refreshMu.Lock()
	defer d.refreshMu.Unlock()
	// Read first, so that changes in between cause another refresh.
	version, err := d.Store.SitesVersion(ctx)
	if err != nil {
		return err
	}
	if loaded := d.current.Load(); loaded != nil && loaded.version == version {
		return nil
	}
	sites, err := d.Store.AllSites(ctx)
	if err != nil {
		return err
	}
	t := &siteIndex{
		version: version, byKey: make(map[string]*Active, len(sites)),
		byID: make(map[uuid.UUID]*Active, len(sites)), bySecret: make(map[string]*Active, len(sites)),
		byDomain: map[string]*Active{},
	}
	for _, s := range sites {
		a, err := d.activate(s)
		if err != nil {
			d.Log.Error("failed to load a site; its hits are not counted", "site_id", s.ID, "error", err)
			continue
		}
		t.byKey[s.WriteKey], t.byID[s.ID], t.bySecret[string(s.SecretHash)] = a, a, a
		for _, domain := range s.Domains {
			domain = bareDomain(domain)
			if first := t.byDomain[domain]; first == nil || s.CreatedAt.Before(first.CreatedAt) {
				t.byDomain[domain] = a
			}
		}
	}
	d.current.Store(t)
	return nil
}

func (d *Directory) activate(s Site) (*Active, error) {
	v, err := s.CounterSite()
	if err != nil {
		return nil, err
	}
	text, err := d.Sealer.Open(s.VisitorKey, SealName(s.ID))
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(text.Reveal())
	if err != nil {
		return nil, fmt.Errorf("malformed visitor key: %w", err)
	}
	return &Active{
		Site: s, CounterSite: v,
		VisitorSite: visitor.Site{
			ID: s.ID, Zone: v.Zone, Key: key, UseCookie: s.Visitors == Cookie,
			IsWeekly: s.WeeklyUniques,
		},
	}, nil
}

// CounterSite returns the settings for package counter.
func (s *Site) CounterSite() (counter.Site, error) {
	zone, err := timezone.Load(s.TimeZone)
	if err != nil {
		return counter.Site{}, err
	}
	return counter.Site{
		ID: s.ID, Workspace: s.WorkspaceID, Zone: zone,
		Window:       time.Duration(s.WindowSeconds) * time.Second,
		UniqueMethod: s.UniqueMethod, MaxID: uint32(s.MaxID), //nolint:gosec // the database checks it
	}, nil
}

// ByKey returns the site of a write key.
func (d *Directory) ByKey(key string) (*Active, bool) {
	t := d.current.Load()
	if t == nil {
		return nil, false
	}
	a, ok := t.byKey[key]
	return a, ok
}

// ByID returns a site.
func (d *Directory) ByID(id uuid.UUID) (*Active, bool) {
	t := d.current.Load()
	if t == nil {
		return nil, false
	}
	a, ok := t.byID[id]
	return a, ok
}

// BySecret returns the site of a secret key. The lookup by hash leaks nothing
// through timing.
func (d *Directory) BySecret(secret string) (*Active, bool) {
	t := d.current.Load()
	if t == nil {
		return nil, false
	}
	a, ok := t.bySecret[string(HashSecret(secret))]
	return a, ok
}

// ByDomain returns the site that names a domain; the oldest one of several, so that
// a later site cannot take hits away.
func (d *Directory) ByDomain(domain string) (*Active, bool) {
	t := d.current.Load()
	if t == nil {
		return nil, false
	}
	a, ok := t.byDomain[bareDomain(domain)]
	return a, ok
}

// bareDomain returns a domain in lower case, without a leading "www.".
func bareDomain(domain string) string {
	return strings.TrimPrefix(strings.ToLower(domain), "www.")
}

// Owns reports whether a host is one of the domains of a workspace's sites.
func (d *Directory) Owns(workspace uuid.UUID, host string) bool {
	t := d.current.Load()
	if t == nil {
		return false
	}
	for _, a := range t.byID {
		if a.WorkspaceID == workspace && a.Owns(host) {
			return true
		}
	}
	return false
}

// AnyAllows reports whether any site allows hits from a host.
func (d *Directory) AnyAllows(host string) bool {
	t := d.current.Load()
	if t == nil {
		return false
	}
	for _, a := range t.byID {
		if a.Allows(host) {
			return true
		}
	}
	return false
}
