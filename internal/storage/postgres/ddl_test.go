package postgres_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// While a new version is rolled out, the previous one works on the same database: a
// migration must not remove or change what it needs. And no table may be locked for as
// long as a scan takes.
//
// The baseline (00100 to 00105) precedes every rollout.
const firstGuarded = "00106"

// allowed are statements that the rules refuse and that were reviewed, by file and
// rule, with the reason.
func allowed() map[string]map[string]string {
	return map[string]map[string]string{
		"00107_checks.sql": {"set-not-null": "the validated check of 00106 saves the scan"},
	}
}

// rule is a kind of statement that is refused, and what to do instead.
type rule struct {
	name    string
	like    *regexp.Regexp
	unless  *regexp.Regexp
	instead string
	old     bool // applies to tables that existed before
}

func rules() []rule {
	re := func(s string) *regexp.Regexp { return regexp.MustCompile(`(?is)` + s) }
	return []rule{
		{
			"drop-column", re(`alter table.*\bdrop (column )?(if exists )?\w+`),
			re(`\bdrop (constraint|not null|default|expression|identity)\b`),
			"stop using it in one version, drop it in the next but one", true,
		},
		{
			"drop-table", re(`^drop (table|view|type|function|sequence)\b`), nil,
			"stop using it in one version, drop it in the next but one", true,
		},
		{
			"rename", re(`^alter .*\brename\b`), nil, "add the new name, write both, move over, drop the old one later",
			true,
		},
		{
			"change-type", re(`\balter (column )?\w+ (set data )?type\b`), nil,
			"add a column of the new type and fill it in batches", true,
		},
		{
			"set-not-null", re(`\balter (column )?\w+ set not null\b`), nil,
			"add a check (… is not null) not valid, validate it in a migration of its own, then set not null", true,
		},
		{
			"add-not-null", re(`\badd (column )?(if not exists )?\w+ [^,]*\bnot null\b`), re(`\bdefault\b|\badd constraint\b`),
			"give it a default: the previous version writes rows without it", true,
		},
		{
			"rewrite",
			re(
				`\badd (column )?(if not exists )?\w+ [^,]*(default (clock_timestamp|gen_random_uuid|random|uuidv7)\(|generated always as \(.*\bstored\b|serial\b|generated (always|by default) as identity)`), nil,
			"add it without, set the default afterwards, fill in batches", true,
		},
		{
			"add-constraint",
			re(
				`\badd (constraint \w+ )?(check|foreign key|exclude)\b|\badd (column )?(if not exists )?\w+ [^,]*\breferences\b`), re(`\bnot valid\b|\badd column\b[^,]*\breferences\b`), "add it not valid, and validate it in a migration of its own", true,
		},
		{
			"add-unique", re(`\badd (constraint \w+ )?(unique|primary key)\b`), re(`\busing index\b`),
			"create a unique index concurrently, then add the constraint using it", true,
		},
		{
			"index", re(`^create (unique )?index\b`), re(`\bconcurrently\b`),
			"create index concurrently, with -- +goose NO TRANSACTION", true,
		},
		{
			"drop-index", re(`^drop index\b`), re(`\bconcurrently\b`),
			"drop index concurrently, with -- +goose NO TRANSACTION", true,
		},
		{
			"write-all", re(`^(update|delete from)\b`), re(`\bwhere\b`),
			"write in batches from the program, not all rows in one transaction", true,
		},
		{"truncate", re(`^truncate\b`), nil, "the previous version still reads it", true},
		{
			"lock", re(`^(lock table|vacuum full|cluster|reindex (table|database|schema)\b)`), re(`\bconcurrently\b`),
			"it blocks all other transactions", true,
		},
	}
}

// statements splits the Up part of a migration.
func statements(sql string) (out []string) {
	up, _, _ := strings.Cut(sql, "-- +goose Down")
	var b strings.Builder
	quoted := false
	for line := range strings.Lines(up) {
		if code, _, ok := strings.Cut(line, "--"); ok && !quoted {
			line = code + "\n"
		}
		for _, part := range regexp.MustCompile(`\$\$|;|[^$;]+|\$`).FindAllString(line, -1) {
			switch {
			case part == "$$":
				quoted = !quoted
			case part == ";" && !quoted:
				out = append(out, strings.TrimSpace(b.String()))
				b.Reset()
				continue
			}
			b.WriteString(part)
		}
	}
	return slices.DeleteFunc(append(out, strings.TrimSpace(b.String())), func(s string) bool { return s == "" })
}

var (
	created = regexp.MustCompile(`(?is)^create table (?:if not exists )?(\w+)`)
	about   = regexp.MustCompile(
		`(?is)^(?:alter table (?:if exists )?(?:only )?(\w+)|create (?:unique )?index .*?\bon (?:only )?(\w+)|update (\w+)|delete from (\w+)|truncate (?:table )?(\w+))`)
)

// breaches lists the rules that a migration breaks, with the statement.
func breaches(sql string) map[string]string {
	fresh, found := map[string]bool{}, map[string]string{}
	for _, s := range statements(sql) {
		if m := created.FindStringSubmatch(s); m != nil {
			fresh[strings.ToLower(m[1])] = true
		}
		table := ""
		if m := about.FindStringSubmatch(s); m != nil {
			table = strings.ToLower(strings.Join(m[1:], ""))
		}
		// Each part of an alter table is checked separately.
		parts := []string{s}
		if strings.HasPrefix(strings.ToLower(s), "alter table") {
			parts = regexp.MustCompile(`,\s*\n`).Split(s, -1)
			for i := range parts[1:] {
				parts[i+1] = "alter table " + table + " " + strings.TrimSpace(parts[i+1])
			}
		}
		for _, part := range parts {
			for _, r := range rules() {
				if r.old && fresh[table] || r.unless != nil && r.unless.MatchString(part) {
					continue
				}
				if r.like.MatchString(part) {
					found[r.name] = part
				}
			}
		}
		if strings.Contains(strings.ToLower(s), "concurrently") && !strings.Contains(sql, "-- +goose NO TRANSACTION") {
			found["transaction"] = s
		}
	}
	return found
}

func TestMigrations_AreBackwardCompatible(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	instead := map[string]string{
		"transaction": "concurrently does not work in a transaction: add -- +goose NO TRANSACTION",
	}
	for _, r := range rules() {
		instead[r.name] = r.instead
	}
	for _, file := range files {
		name := filepath.Base(file)
		if name < firstGuarded {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for broken, statement := range breaches(string(raw)) {
			if allowed()[name][broken] == "" {
				t.Errorf("%s (%s): %s\n\tinstead: %s", name, broken, statement, instead[broken])
			}
		}
	}
}

// The rules refuse unsafe statements, and nothing else.
func TestMigrations_Rules(t *testing.T) {
	for sql, want := range map[string]string{
		"alter table media drop column kind;":                             "drop-column",
		"alter table media\n    add column a int,\n    drop column kind;": "drop-column",
		"drop table media;":                                                   "drop-table",
		"alter table media rename column kind to sort;":                       "rename",
		"alter table media alter column bytes type int;":                      "change-type",
		"alter table media alter column kind set not null;":                   "set-not-null",
		"alter table media add column note text not null;":                    "add-not-null",
		"alter table media add column id2 uuid default gen_random_uuid();":    "rewrite",
		"alter table media add column n bigint generated always as identity;": "rewrite",
		"alter table media add constraint small check (bytes < 10);":          "add-constraint",
		"alter table media add constraint one unique (sha256);":               "add-unique",
		"create index media_kind on media (kind);":                            "index",
		"create unique index media_kind on media (kind);":                     "index",
		"create index concurrently media_kind on media (kind);":               "transaction",
		"drop index media_kind;":                                              "drop-index",
		"update media set kind = 'image';":                                    "write-all",
		"truncate media;":                                                     "truncate",
		"lock table media;":                                                   "lock",
		// Safe statements.
		"alter table media add column note text;": "",
		"alter table media add column note text not null " +
			"default '';": "",
		"alter table media drop constraint small;": "",
		"alter table media alter column kind " +
			"drop not null;": "",
		"alter table media add constraint small check (bytes < 10) " +
			"not valid;": "",
		"-- +goose NO TRANSACTION\n-- +goose Up\ncreate index concurrently media_kind on " +
			"media (kind);": "",
		"create table fresh (id uuid primary key, n int not null);\ncreate index fresh_n on fresh (n);\nalter table " +
			"fresh add unique (n);": "",
		"update media set kind = 'image' where kind = 'picture';":                             "",
		"-- +goose Up\nselect 1;\n-- +goose Down\ndrop table media;":                          "",
		"create function f() returns void language plpgsql as $$ begin drop table x; end $$;": "",
	} {
		got := breaches(sql)
		if want == "" && len(got) > 0 {
			t.Errorf("%q is refused: %v", sql, got)
		}
		if want != "" && got[want] == "" {
			t.Errorf("%q breaks %v, want %s", sql, got, want)
		}
	}
}
