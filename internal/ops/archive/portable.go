// Package archive writes everything that a workspace owns into one archive, in
// a form that other programs can read, and takes such an archive into a
// workspace of this or another installation.
//
// The archive is a tar, compressed with zstd: manifest.json, a file of JSON lines
// for each section, and the media as files/<SHA-256>. It holds no secret: no
// tokens of accounts, no keys of sites, no API tokens.
package archive

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/site"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/seeds"
	"dateline/internal/publishing/media"
)

// Format is the version of the archive's form.
const Format = 1

// Section is one kind of what a workspace owns.
type Section string

// The sections.
const (
	Workspace Section = "workspace"
	Accounts  Section = "accounts"
	Media     Section = "media"
	Series    Section = "series"
	Posts     Section = "posts"
	Links     Section = "links"
	Sites     Section = "sites"
	Seeds     Section = "seeds"
)

// Sections lists them in the order in which they are written and loaded.
func Sections() []Section {
	return []Section{Workspace, Accounts, Media, Series, Posts, Links, Sites, Seeds}
}

// Table is one that an import writes.
type Table string

// The tables.
const (
	AccountRows Table = "accounts"
	SeriesRows  Table = "series"
	NoteRows    Table = "series_notes"
	PostRows    Table = "scheduled_posts"
	TargetRows  Table = "post_targets"
	RemoteRows  Table = "remote_posts"
	LinkRows    Table = "links"
)

// RemoteAccount is what an account is at its network.
type RemoteAccount struct{ Network, BaseURL, RemoteID string }

// Manifest begins an archive.
type Manifest struct {
	Format     int       `json:"format"`
	Version    string    `json:"dateline"`
	ExportedAt time.Time `json:"exported_at"`
}

// Source is the database as an export reads it.
type Source interface {
	ExportWorkspace(ctx context.Context, workspace uuid.UUID, emit func(Section, json.RawMessage) error) error
}

// Objects are where media lie.
type Objects interface {
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	URL(key string) string
}

// Store is the database as an import writes it.
type Store interface {
	ImportRows(ctx context.Context, table Table, rows []map[string]any) (added int64, err error)
	AccountsByRemote(ctx context.Context, workspace uuid.UUID) (map[RemoteAccount]uuid.UUID, error)
}

// Library takes files in.
type Library interface {
	Save(ctx context.Context, who workspace.Principal, in media.NewFile) (item media.Item, replayed bool, err error)
}

// SiteMaker makes web sites that are counted for.
type SiteMaker interface {
	List(ctx context.Context, who workspace.Principal) ([]site.Site, error)
	Create(ctx context.Context, who workspace.Principal, draft site.Site, key idempotency.Key) (made site.Site, plain secret.Text, replayed bool, err error)
}

// SeedMaker makes seeds of the crawler.
type SeedMaker interface {
	Create(ctx context.Context, who workspace.Principal, d seeds.Draft, key idempotency.Key) (crawl.Seed, bool, error)
}
