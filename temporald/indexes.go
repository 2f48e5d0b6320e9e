package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// requiredIndexes are the indexes of the visibility table that the Web UI, schedules
// and Dateline's own search attributes use. The schema has 58, one for every column,
// and each is updated with every workflow that starts or ends: a quarter of the cost of
// a short workflow. A query on another column still works; it reads the rows of its
// namespace.
func requiredIndexes() []string {
	return []string{
		"default_idx", "by_execution_time", "by_workflow_id", "by_workflow_type", "by_status", "by_parent_workflow_id",
		"by_root_workflow_id", "by_temporal_scheduled_by_id", "by_temporal_namespace_division",
		// Custom search attributes take the columns of their type in order.
		"by_datetime_01", "by_keyword_01", "by_keyword_02", "by_keyword_03", "by_keyword_04", "by_keyword_05",
	}
}

// dropRareIndexes removes all others, also from a file of an older build.
func dropRareIndexes(ctx context.Context, tx *sql.Tx) error {
	// Indexes that SQLite creates for a constraint have no statement of their own and
	// cannot be dropped.
	rows, err := tx.QueryContext(ctx, "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL")
	if err != nil {
		return fmt.Errorf("list the indexes: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var rare []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return fmt.Errorf("list the indexes: %w", err)
		}
		if !slices.Contains(requiredIndexes(), name) {
			rare = append(rare, name)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("list the indexes: %w", err)
	}
	for _, name := range rare {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("DROP INDEX %q", name)); err != nil {
			return fmt.Errorf("drop the index %s: %w", name, err)
		}
	}
	return nil
}
