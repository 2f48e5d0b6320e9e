package backup

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// schemaTable contains the applied migrations.
const schemaTable = "goose_db_version"

// excludedTables returns the tables whose rows are short-lived, or which would restore
// revoked access.
func excludedTables() []string {
	return []string{
		"account_choices",  // OAuth connections with a pending account choice: minutes
		"connect_attempts", // pending OAuth authorizations: minutes
		"crawl_slots",      // rate limits per host: seconds
		"login_links",      // one-time login links: minutes
		"member_login_links",
		"sessions",              // users log in again
		"stats_imports_running", // minutes
		"workers",               // running processes
	}
}

// columnExpression returns the expression of columns that are not copied unchanged.
// Transaction IDs are specific to a server: events that were dispatched to webhooks get
// an ID before the cursor, others one after it, and all of them are lower than those of
// a new server.
func columnExpression(table, column string) (expression string, ok bool) {
	switch table + "." + column {
	case "post_events.tx":
		return "case when (post_events.tx, post_events.id) > (select c.tx, c.event_id from webhook_cursor c) then " +
			"'1' else '0' end::xid8", true
	case "webhook_cursor.tx":
		return "'0'::xid8", true
	case "webhook_cursor.event_id":
		return "9223372036854775807::bigint", true
	}
	return "", false
}

// describe reads the tables in load order: every table comes after those that it
// references.
func describe(ctx context.Context, tx pgx.Tx, m *Manifest) error {
	names, err := collect[string](ctx, tx, `select c.relname::text from pg_class c
		where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relname <> $1
		order by 1`, schemaTable)
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `select c.conrelid::regclass::text, c.confrelid::regclass::text from pg_constraint c
		where c.contype = 'f' and c.connamespace = current_schema()::regnamespace and c.conparentid = 0`)
	if err != nil {
		return err
	}
	needs := map[string][]string{}
	var from, to string
	if _, err := pgx.ForEachRow(rows, []any{&from, &to}, func() error {
		if from != to { // a table is loaded with one statement
			needs[from] = append(needs[from], to)
		}
		return nil
	}); err != nil {
		return err
	}
	m.Excluded = nil
	for _, name := range excludedTables() {
		if slices.Contains(names, name) {
			m.Excluded = append(m.Excluded, name)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(m.Excluded, n) })
	ordered, err := sortByDependency(names, needs)
	if err != nil {
		return err
	}
	for _, name := range ordered {
		columns, err := collect[string](ctx, tx, `select attname::text from pg_attribute
			where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
			name)
		if err != nil {
			return err
		}
		m.Tables = append(m.Tables, Table{Name: name, Columns: columns})
	}
	return describePartitions(ctx, tx, m)
}

// describePartitions reads the partitions and sequences.
func describePartitions(ctx context.Context, tx pgx.Tx, m *Manifest) (err error) {
	rows, err := tx.Query(ctx, `select i.inhparent::regclass::text, c.relname::text, pg_get_expr(c.relpartbound, c.oid)
		from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where c.relispartition and c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
			order by 1, 2`)
	if err != nil {
		return err
	}
	if m.Partitions, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Partition]); err != nil {
		return err
	}
	names, err := collect[string](ctx, tx, `select c.relname::text from pg_class c
		where c.relkind = 'S' and c.relnamespace = current_schema()::regnamespace and c.relname not like $1 order by 1`,
		schemaTable+"%")
	if err != nil {
		return err
	}
	for _, name := range names {
		s := Sequence{Name: name}
		if err := tx.QueryRow(ctx, "select last_value, is_called from "+quoted(name)).Scan(&s.Last,
			&s.Called); err != nil {
			return err
		}
		m.Sequences = append(m.Sequences, s)
	}
	return nil
}

// sortByDependency sorts tables after those that they reference.
func sortByDependency(names []string, needs map[string][]string) (ordered []string, err error) {
	const (
		entered = 1
		done    = 2
	)
	state := map[string]int{}
	var visit func(name string) error
	visit = func(name string) error {
		switch state[name] {
		case done:
			return nil
		case entered:
			return fmt.Errorf("the foreign keys of the tables are circular at %s", name)
		}
		state[name] = entered
		for _, n := range needs[name] {
			if slices.Contains(names, n) {
				if err := visit(n); err != nil {
					return err
				}
			}
		}
		state[name] = done
		ordered = append(ordered, name)
		return nil
	}
	for _, name := range names {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}

// validBound matches allowed partition bounds, because the bound of an untrusted archive
// becomes part of a statement.
var validBound = regexp.MustCompile(
	`^(DEFAULT|FOR VALUES (FROM \('[0-9A-Za-z :+.-]+'\) TO \('[0-9A-Za-z :+.-]+'\)|WITH \(modulus [0-9]+, remainder [0-9]+\)))$`) //nolint:gochecknoglobals // constant

// copyOut returns the statement that reads the table.
func (t Table) copyOut() string {
	expressions := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		if e, ok := columnExpression(t.Name, c); ok {
			expressions[i] = e
		} else {
			expressions[i] = quoted(c)
		}
	}
	return fmt.Sprintf("copy (select %s from %s) to stdout", strings.Join(expressions, ", "), quoted(t.Name))
}

// copyIn returns the statement that loads the table.
func (t Table) copyIn() string {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = quoted(c)
	}
	return fmt.Sprintf("copy %s (%s) from stdin", quoted(t.Name), strings.Join(columns, ", "))
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func collect[T any](ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}
