package seeds

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/news/crawl/warc"

	"dateline/internal/infra/blob"
)

// Objects tells of exports in the object store.
type Objects interface {
	Size(ctx context.Context, key string) (int64, error)
	PresignGet(ctx context.Context, key string, good time.Duration) (string, error)
}

// Export is an export; without URL it is not there yet.
type Export struct {
	URL   string
	Bytes int64
}

// CheckRange refuses a range of time that has nothing in it.
func CheckRange(from, to time.Time) error {
	if from.Before(to) {
		return nil
	}
	return apperr.InvalidFields(apperr.FieldError{Field: "to", Code: "invalid", Message: "The end has to be after the beginning."})
}

// StartExport has a domain's stored pages written into the object store.
func (s *Service) StartExport(ctx context.Context, who workspace.Principal, domain string, from, to time.Time) (uuid.UUID, error) {
	if _, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, domain); err != nil {
		return uuid.Nil, err
	}
	if err := CheckRange(from, to); err != nil {
		return uuid.Nil, err
	}
	id := uuid.New()
	if err := s.Store.CreateCrawlExport(ctx, who.WorkspaceID, id, domain); err != nil {
		return uuid.Nil, err
	}
	return id, s.Workflows.StartExport(ctx, domain, id.String(), exportKey(who.WorkspaceID, domain, id), from.UTC(), to.UTC())
}

// exportKey keeps a workspace from reading what another one has had exported.
func exportKey(workspace uuid.UUID, domain string, id uuid.UUID) string {
	return warc.ExportKey(domain, uuid.NewSHA1(workspace, id[:]).String())
}

// GetExport says where an export is.
func (s *Service) GetExport(ctx context.Context, who workspace.Principal, domain string, id uuid.UUID) (Export, error) {
	if _, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, domain); err != nil {
		return Export{}, err
	}
	if asked, err := s.Store.HasCrawlExport(ctx, who.WorkspaceID, id, domain); err != nil {
		return Export{}, err
	} else if !asked {
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
