package backup

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// schemaTable is where the migrations note themselves; the archive has its
// newest number.
const schemaTable = "goose_db_version"

// leftOut are tables whose rows mean nothing in another place or at a later
// time, and some of which would let people in who have been shown out since.
func leftOut() []string {
	return []string{
		"account_choices",  // logins at networks that wait for a choice: minutes
		"connect_attempts", // people who are away at a consent page: minutes
		"crawl_slots",      // when a host may be asked next: seconds
		"login_links",      // links that log in once: minutes
		"sessions",         // browsers that are logged in: they log in again
		"workers",          // processes that run
	}
}

// selected are columns that are not copied as they are. Transaction numbers of
// one server mean nothing in another: what webhooks have been told of comes
// before the cursor, all else behind it, and everything is older than what a
// new server writes.
func selected(table, column string) (expression string, ok bool) {
	switch table + "." + column {
	case "post_events.tx":
		return "case when (post_events.tx, post_events.id) > (select c.tx, c.event_id from webhook_cursor c) then '1' else '0' end::xid8", true
	case "webhook_cursor.tx":
		return "'0'::xid8", true
	case "webhook_cursor.event_id":
		return "9223372036854775807::bigint", true
	}
	return "", false
}

// describe reads what there is to copy, in an order in which every table comes
// after those that it refers to.
func describe(ctx context.Context, tx pgx.Tx, m *Manifest) error {
	names, err := collect[string](ctx, tx, `select c.relname::text from pg_class c
		where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> $1
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
		if from != to { // one statement loads a table whole
			needs[from] = append(needs[from], to)
		}
		return nil
	}); err != nil {
		return err
	}
	m.LeftOut = nil
	for _, name := range leftOut() {
		if slices.Contains(names, name) {
			m.LeftOut = append(m.LeftOut, name)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(m.LeftOut, n) })
	ordered, err := order(names, needs)
	if err != nil {
		return err
	}
	for _, name := range ordered {
		columns, err := collect[string](ctx, tx, `select attname::text from pg_attribute
			where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`, name)
		if err != nil {
			return err
		}
		m.Tables = append(m.Tables, Table{Name: name, Columns: columns})
	}
	return divided(ctx, tx, m)
}

// divided reads the partitions and sequences.
func divided(ctx context.Context, tx pgx.Tx, m *Manifest) (err error) {
	rows, err := tx.Query(ctx, `select i.inhparent::regclass::text, c.relname::text, pg_get_expr(c.relpartbound, c.oid)
		from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where c.relispartition and c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace order by 1, 2`)
	if err != nil {
		return err
	}
	if m.Partitions, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Partition]); err != nil {
		return err
	}
	names, err := collect[string](ctx, tx, `select c.relname::text from pg_class c
		where c.relkind = 'S' and c.relnamespace = current_schema()::regnamespace and c.relname not like $1 order by 1`, schemaTable+"%")
	if err != nil {
		return err
	}
	for _, name := range names {
		s := Sequence{Name: name}
		if err := tx.QueryRow(ctx, "select last_value, is_called from "+quoted(name)).Scan(&s.Last, &s.Called); err != nil {
			return err
		}
		m.Sequences = append(m.Sequences, s)
	}
	return nil
}

// order sorts tables behind those that they need.
func order(names []string, needs map[string][]string) (ordered []string, err error) {
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
			return fmt.Errorf("the tables refer to one another in a circle at %s", name)
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

// bound is what a partition's bound may look like: an archive comes from
// outside, and its words become part of a statement.
var bound = regexp.MustCompile(`^(DEFAULT|FOR VALUES (FROM \('[0-9A-Za-z :+.-]+'\) TO \('[0-9A-Za-z :+.-]+'\)|WITH \(modulus [0-9]+, remainder [0-9]+\)))$`) //nolint:gochecknoglobals // a constant in all but name

// copyOut is the statement that reads a table.
func (t Table) copyOut() string {
	expressions := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		if e, ok := selected(t.Name, c); ok {
			expressions[i] = e
		} else {
			expressions[i] = quoted(c)
		}
	}
	return fmt.Sprintf("copy (select %s from %s) to stdout", strings.Join(expressions, ", "), quoted(t.Name))
}

// copyIn is the statement that loads it.
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
