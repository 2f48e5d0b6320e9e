// Package archive exports a workspace to an archive in a documented format, and imports
// the archive into a workspace of the same or another installation.
//
// The archive is a tar file, compressed with zstd. It contains manifest.json, a JSON
// Lines file per section, and the media as files/<SHA-256>. It contains no secrets: no
// access tokens, site keys or API tokens.
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

// Format is the version of the archive format.
const Format = 1

// Section is a kind of object in an archive.
type Section string

// The sections.
const (
	Workspace Section = "workspace"
	Accounts  Section = "accounts"
	Groups    Section = "groups"
	Labels    Section = "labels"
	Snippets  Section = "snippets"
	Media     Section = "media"
	Series    Section = "series"
	Posts     Section = "posts"
	Links     Section = "links"
	Sites     Section = "sites"
	Seeds     Section = "seeds"
)

// Sections returns the sections in the order in which they are written and loaded.
func Sections() []Section {
	return []Section{Workspace, Accounts, Groups, Labels, Snippets, Media, Series, Posts, Links, Sites, Seeds}
}

// Table is a table that an import writes to.
type Table string

// The tables.
const (
	AccountRows   Table = "accounts"
	GroupRows     Table = "account_groups"
	LabelRows     Table = "labels"
	SnippetRows   Table = "snippets"
	SeriesRows    Table = "series"
	ExceptionRows Table = "series_exceptions"
	PostRows      Table = "scheduled_posts"
	TargetRows    Table = "post_targets"
	RemoteRows    Table = "remote_posts"
	LinkRows      Table = "links"
)

// RemoteAccount identifies an account at its network.
type RemoteAccount struct{ Network, BaseURL, RemoteID string }

// Manifest is the first document of an archive.
type Manifest struct {
	Format     int       `json:"format"`
	Version    string    `json:"dateline"`
	ExportedAt time.Time `json:"exported_at"`
}

// Source reads the objects of a workspace for an export, as of one snapshot.
type Source interface {
	// ExportWorkspace passes the number of rows to begin, and then each row to emit.
	ExportWorkspace(ctx context.Context, workspace uuid.UUID, begin func(total int),
		emit func(Section, json.RawMessage) error) error
}

// Objects reads media from the object store.
type Objects interface {
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	URL(key string) string
}

// Store writes the rows of an import.
type Store interface {
	ImportRows(ctx context.Context, table Table, rows []map[string]any) (added int64, err error)
	GroupNames(ctx context.Context, workspace uuid.UUID) (map[string]uuid.UUID, error)
	LabelNames(ctx context.Context, workspace uuid.UUID) (map[string]uuid.UUID, error)
	SnippetNames(ctx context.Context, workspace uuid.UUID) (map[string]uuid.UUID, error)
	AccountsByRemote(ctx context.Context, workspace uuid.UUID) (map[RemoteAccount]uuid.UUID, error)
}

// Library stores media files.
type Library interface {
	Save(ctx context.Context, who workspace.Principal, in media.NewFile) (item media.Item, replayed bool, err error)
}

// SiteCreator creates sites.
type SiteCreator interface {
	List(ctx context.Context, who workspace.Principal) ([]site.Site, error)
	Create(ctx context.Context, who workspace.Principal, draft site.Site, key idempotency.Key) (created site.Site,
		plain secret.Text, replayed bool, err error)
}

// SeedCreator creates seeds.
type SeedCreator interface {
	Create(ctx context.Context, who workspace.Principal, d seeds.Draft, key idempotency.Key) (crawl.Seed, bool, error)
}
