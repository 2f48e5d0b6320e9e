package main

import (
	"path/filepath"
	"testing"
)

func TestTheListOfWorkflowsMovesToItsOwnFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#%.db")
	if err := prepareSchema(t.Context(), path); err != nil { // as an older build leaves it
		t.Fatal(err)
	}
	const insert = `INSERT INTO executions_visibility (namespace_id, run_id, start_time, execution_time, workflow_id, workflow_type_name, status, encoding, search_attributes)
		VALUES ('n', 'r', '2026-11-01 00:00:00', '2026-11-01 00:00:00', 'post-1', 'Post', 1, 'Proto3', '{"Keyword01":"desk"}')`
	execSQL(t, path, insert)
	for range 2 { // a second start changes nothing
		if err := prepareFiles(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		var id, keyword string
		row := open(t, visibilityFile(path)).QueryRow("SELECT workflow_id, Keyword01 FROM executions_visibility")
		if err := row.Scan(&id, &keyword); err != nil || id != "post-1" || keyword != "desk" {
			t.Errorf("the list has %q of %q, %v", id, keyword, err)
		}
		var left int
		if err := open(t, path).QueryRow("SELECT count(*) FROM executions_visibility").Scan(&left); err != nil || left != 0 {
			t.Errorf("%d rows are left, %v", left, err)
		}
	}
	// Killed between copying and deleting.
	execSQL(t, path, insert)
	if err := prepareFiles(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := open(t, visibilityFile(path)).QueryRow("SELECT count(*) FROM executions_visibility").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v, want one", rows, err)
	}
}
