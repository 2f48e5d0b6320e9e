package postgres_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/storetest"
)

// Data of an incompatible build is refused before anything is changed, with a remedy.
// Compatible data is migrated.
func TestMigrate_RefusesDataThatDoesNotFit(t *testing.T) {
	newest, err := postgres.NewestMigration()
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		change string // to a database with all migrations
		want   string // in the error; empty: it is migrated
		remedy string
	}{
		"BeforeTheBaseline": {
			"delete from goose_db_version where version_id = (select min(version_id) from goose_db_version where " +
				"version_id > 0)", "from before migration", "dateline export",
		},
		"LacksOne": {
			fmt.Sprintf("delete from goose_db_version where version_id = (select max(version_id) from "+
				"goose_db_version where version_id < %d and version_id > 1)", newest), "but lacks", "restore a backup",
		},
		"UnknownInTheMiddle": {
			"insert into goose_db_version (version_id, is_applied) values (19, true)",
			"does not know", "restore a backup",
		},
		"TooFarAhead": {
			fmt.Sprintf("comment on table goose_db_version is 'oldest usable build: %d'", newest+5),
			"Going back is supported by one release", "dateline restore",
		},
		"OneReleaseAhead": {
			fmt.Sprintf("insert into goose_db_version (version_id, is_applied) values (%d, true)", newest+1), "", "",
		},
		"AForeignComment": {"comment on table goose_db_version is 'ours'", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, url := storetest.OpenWithURL(t)
			n := &storetest.Newsroom{Store: s, T: t, URL: url}
			if name == "UnknownInTheMiddle" {
				n.Exec("delete from goose_db_version where version_id = 19")
			}
			n.Exec(row.change)
			schema, err := s.Schema(t.Context())
			n.Must(err)
			for what, err := range map[string]error{
				"Migrate": s.Migrate(t.Context(), slog.New(slog.DiscardHandler)),
				"Usable":  schema.Usable(slog.New(slog.DiscardHandler)),
			} {
				if row.want == "" {
					if err != nil {
						t.Errorf("%s: got %v, want no error", what, err)
					}
					continue
				}
				if !errors.Is(err, postgres.ErrSchema) || !strings.Contains(err.Error(), row.want) ||
					!strings.Contains(err.Error(), row.remedy) {
					t.Errorf("%s: got %v, want an error with %q and %q", what, err, row.want, row.remedy)
				}
			}
		})
	}
}

// A process that does not migrate refuses a database that is not migrated yet.
func TestSchema_UsableWantsTheMigrationsOfTheBuild(t *testing.T) {
	s, err := postgres.Open(t.Context(), enginetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	newest, err := postgres.NewestMigration()
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []int64{0, newest - 1, newest} {
		if to > 0 {
			if err := s.MigrateTo(t.Context(), slog.New(slog.DiscardHandler), to); err != nil {
				t.Fatal(err)
			}
		}
		schema, err := s.Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = schema.Usable(slog.New(slog.DiscardHandler))
		if to == newest && err != nil {
			t.Errorf("at %d: got %v, want no error", to, err)
		}
		if to < newest && (!errors.Is(err, postgres.ErrSchema) ||
			!strings.Contains(err.Error(), "Run `dateline migrate`")) {
			t.Errorf("at %d: got %v, want an error that says to run dateline migrate", to, err)
		}
	}
}
