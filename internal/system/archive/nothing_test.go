package archive_test

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/system/archive"
)

// nothing is a database that discards everything, for testing the parser in front of
// it.
type nothing struct{}

func (nothing) ImportRows(context.Context, archive.Table, []map[string]any) (int64, error) {
	return 0, nil
}

func (nothing) AuditArchive(context.Context, uuid.UUID, audit.Action, map[string]any) error {
	return nil
}

func (nothing) AccountsByRemote(context.Context, uuid.UUID) (map[archive.RemoteAccount]uuid.UUID, error) {
	return nil, nil
}

func (nothing) GroupNames(context.Context, uuid.UUID) (map[string]uuid.UUID, error) { return nil, nil }

func (nothing) LabelNames(context.Context, uuid.UUID) (map[string]uuid.UUID, error) { return nil, nil }

func (nothing) SnippetNames(context.Context, uuid.UUID) (map[string]uuid.UUID, error) {
	return nil, nil
}
