// Package storetest opens stores on databases of their own for tests. It is apart from
// package enginetest because tests that need only Redis would link the store with it.
package storetest

import (
	"context"
	"log/slog"
	"testing"

	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
)

// Open opens a new database with all migrations.
func Open(t testing.TB) *postgres.Store {
	t.Helper()
	s, _ := OpenWithURL(t)
	return s
}

// OpenWithURL is Open for tests that also query the tables themselves.
func OpenWithURL(t testing.TB) (*postgres.Store, string) {
	t.Helper()
	url := enginetest.MigratedPostgres(t, func(ctx context.Context, url string) error {
		s, err := postgres.Open(ctx, url)
		if err != nil {
			return err
		}
		defer s.Close()
		return s.Migrate(ctx, slog.New(slog.DiscardHandler))
	})
	s, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, url
}
