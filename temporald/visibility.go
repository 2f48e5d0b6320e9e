package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// visibilityFile is where the list of workflows is kept, beside the file of the workflows themselves. A SQLite file has
// one writer: in one file, each start and end of a workflow would wait for its entry in the list, and both for the disk.
func visibilityFile(path string) string {
	extension := filepath.Ext(path)
	return strings.TrimSuffix(path, extension) + "-visibility" + extension
}

// prepareFiles makes both files ready. What an older build, or start-dev, has listed in the workflows' own file moves.
func prepareFiles(ctx context.Context, path string) error {
	if err := prepareSchema(ctx, path); err != nil {
		return err
	}
	list := visibilityFile(path)
	if err := prepareSchema(ctx, list); err != nil {
		return err
	}
	if err := moveVisibility(ctx, path, list); err != nil {
		return explain(list, err)
	}
	return nil
}

// moveVisibility copies first and deletes then, each in a transaction of its own, because a transaction over two files
// with write-ahead logs is atomic in each of them only (https://www.sqlite.org/lang_attach.html). Killed in between, it
// copies the same rows again.
func moveVisibility(ctx context.Context, from, to string) (err error) {
	db, err := sql.Open("sqlite", sqliteURI(to)+"?_txlock=immediate&_pragma=busy_timeout(3000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // ATTACH holds for one connection.
	if _, err := db.ExecContext(ctx, "ATTACH DATABASE ? AS store", from); err != nil {
		return fmt.Errorf("attach %s: %w", from, err)
	}
	var rows int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM store.executions_visibility").Scan(&rows); err != nil || rows == 0 {
		return err
	}
	// Columns that SQLite computes cannot be written.
	var columns string
	err = db.QueryRowContext(ctx, `SELECT group_concat('"' || name || '"') FROM pragma_table_xinfo('executions_visibility') WHERE hidden = 0`).Scan(&columns)
	if err != nil {
		return err
	}
	copied := fmt.Sprintf("INSERT OR REPLACE INTO main.executions_visibility (%s) SELECT %s FROM store.executions_visibility", columns, columns) //nolint:gosec // names of the schema
	if _, err := db.ExecContext(ctx, copied); err != nil {
		return fmt.Errorf("copy the list of workflows: %w", err)
	}
	if _, err := db.ExecContext(ctx, "DELETE FROM store.executions_visibility"); err != nil {
		return fmt.Errorf("drop the old list of workflows: %w", err)
	}
	return nil
}
