package seeds

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/blob"
	"dateline/internal/news/crawl/warc"
)

// ExportStore records which exports a workspace requested.
type ExportStore interface {
	CreateCrawlExport(ctx context.Context, workspace, id uuid.UUID, domain string) error
	HasCrawlExport(ctx context.Context, workspace, id uuid.UUID, domain string) (bool, error)
}

// Objects finds exports in the object store.
type Objects interface {
	Size(ctx context.Context, key string) (int64, error)
	PresignGet(ctx context.Context, key string, ttl time.Duration) (string, error)
}

// Export is a WARC file in the object store. URL is empty until it is complete.
type Export struct {
	URL   string
	Bytes int64
}

// CheckRange returns an error if a time range is empty.
func CheckRange(from, to time.Time) error {
	if from.Before(to) {
		return nil
	}
	return apperr.InvalidFields(apperr.FieldError{
		Field: "to", Code: "invalid", Message: "The end must be after the start.",
	})
}

// StartExport starts an export of a domain's stored pages into the object store.
func (s *Service) StartExport(
	ctx context.Context, who workspace.Principal, domain string, from, to time.Time,
) (uuid.UUID, error) {
	if _, err := s.Domains.GetWorkspaceDomain(ctx, who.WorkspaceID, domain); err != nil {
		return uuid.Nil, err
	}
	if err := CheckRange(from, to); err != nil {
		return uuid.Nil, err
	}
	id := uuid.New()
	if err := s.Exports.CreateCrawlExport(ctx, who.WorkspaceID, id, domain); err != nil {
		return uuid.Nil, err
	}
	return id, s.Workflows.StartExport(ctx, domain, id.String(), exportKey(who.WorkspaceID, domain, id), from.UTC(),
		to.UTC())
}

// exportKey depends on the workspace, so that none can read another one's exports.
func exportKey(workspace uuid.UUID, domain string, id uuid.UUID) string {
	return warc.ExportKey(domain, uuid.NewSHA1(workspace, id[:]).String())
}

// GetExport returns an export that the workspace requested.
func (s *Service) GetExport(ctx context.Context, who workspace.Principal, domain string, id uuid.UUID) (Export, error) {
	if _, err := s.Domains.GetWorkspaceDomain(ctx, who.WorkspaceID, domain); err != nil {
		return Export{}, err
	}
	if requested, err := s.Exports.HasCrawlExport(ctx, who.WorkspaceID, id, domain); err != nil {
		return Export{}, err
	} else if !requested {
		return Export{}, apperr.NotFound("export")
	}
	key := exportKey(who.WorkspaceID, domain, id)
	size, err := s.Objects.Size(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return Export{}, nil
	}
	if err != nil {
		return Export{}, err
	}
	address, err := s.Objects.PresignGet(ctx, key, time.Hour)
	return Export{URL: address, Bytes: size}, err
}
