package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sqliteschema "go.temporal.io/server/schema/sqlite"
)

func TestPrepareSchema(t *testing.T) {
	current, err := minorVersion(sqliteschema.Version)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("NewThenAgain", func(t *testing.T) {
		path := prepared(t)
		if err := prepareSchema(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		wantVersion(t, path, current)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode %s, want only the owner", info.Mode())
		}
	})
	t.Run("UpgradesOlder", func(t *testing.T) {
		path := prepared(t) // Downgraded to 0.8.
		execSQL(t, path, "DROP TABLE current_chasm_executions", "DROP TABLE tasks_v2", "DROP TABLE task_queues_v2",
			"DROP TABLE chasm_node_maps", "PRAGMA user_version = 8")
		if err := prepareSchema(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		wantVersion(t, path, current)
		execSQL(t, path, "SELECT pass FROM tasks_v2", "SELECT chasm_path FROM chasm_node_maps", "SELECT business_id FROM current_chasm_executions")
	})
	t.Run("AdoptsUnmarked", func(t *testing.T) { // As start-dev leaves it.
		path := prepared(t)
		execSQL(t, path, "PRAGMA user_version = 0")
		if err := prepareSchema(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		wantVersion(t, path, current)
	})
	t.Run("RefusesNewer", func(t *testing.T) {
		path := prepared(t)
		execSQL(t, path, "PRAGMA user_version = 99")
		wantError(t, path, "newer than")
	})
	t.Run("RefusesUnknownGap", func(t *testing.T) {
		path := prepared(t)
		execSQL(t, path, "ALTER TABLE namespaces DROP COLUMN is_global")
		wantError(t, path, "lacks namespaces.is_global")
	})
	t.Run("RefusesOtherProgram", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "other.db")
		execSQL(t, path, "CREATE TABLE recipes (name TEXT)")
		wantError(t, path, "belongs to another program")
		wantVersion(t, path, 0)
	})
	t.Run("RefusesNoDatabase", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "letter.txt")
		if err := os.WriteFile(path, []byte(strings.Repeat("Dear reader, ", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		wantError(t, path, "not a SQLite database")
	})
	t.Run("RefusesMissingDirectory", func(t *testing.T) {
		wantError(t, filepath.Join(t.TempDir(), "missing", "temporal.db"), "directory must exist")
	})
}

func prepared(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "temporal.db")
	if err := prepareSchema(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", sqliteURI(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execSQL(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := open(t, path)
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func wantVersion(t *testing.T, path string, want int) {
	t.Helper()
	var got int
	if err := open(t, path).QueryRow("PRAGMA user_version").Scan(&got); err != nil || got != want {
		t.Errorf("schema version %d, %v, want %d", got, err, want)
	}
}

func wantError(t *testing.T, path, want string) {
	t.Helper()
	if err := prepareSchema(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

func TestRareIndexesAreDroppedAlsoFromAnOlderFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "temporal.db")
	if err := prepareSchema(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	execSQL(t, path, "CREATE INDEX by_int_02 ON executions_visibility (namespace_id, Int02)")
	if err := prepareSchema(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	rows, err := open(t, path).Query("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	want := requiredIndexes()
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("indexes %v, want %v", names, want)
	}
}
