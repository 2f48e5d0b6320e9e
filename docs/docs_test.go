// Package docs_test checks that files, tests, identifiers, settings, metrics, make
// targets, API operations and links in the documentation and in comments exist.
package docs_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v3"

	"dateline/internal/audience/botfilter"
	"dateline/internal/infra/linkcode"
	"dateline/internal/infra/telemetry"
)

var update = flag.Bool("update", false, "write docs/reference/settings.md")

const (
	root     = ".."
	maxWords = 1500
)

// skipped are folders without files of this project.
var skipped = []string{".git", ".tools", ".cache", "bin", "node_modules", "dist"}

// walk calls visit with the path, from the root, of every file with one of the
// extensions.
func walk(t *testing.T, visit func(file string), extensions ...string) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(p, root), string(filepath.Separator)))
		switch {
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return filepath.SkipDir
		case !d.IsDir() && slices.Contains(extensions, filepath.Ext(p)):
			visit(file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func exists(file string) bool {
	_, err := os.Stat(filepath.Join(root, file))
	return err == nil
}

// pages returns the Markdown files for readers, with their content.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	walk(t, func(file string) {
		if !strings.Contains(file, "/testdata/") {
			found[file] = read(t, file)
		}
	}, ".md")
	return found
}

func TestPages_AreShort(t *testing.T) {
	for file, text := range pages(t) {
		words := 0
		for word := range strings.FieldsSeq(text) {
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				words++
			}
		}
		if words > maxWords {
			t.Errorf("%s: got %d words, want at most %d: split it by topic", file, words, maxWords)
		}
	}
	if got := strings.Count(read(t, "docs/performance.md"), "\n"); got > 120 {
		t.Errorf("docs/performance.md: got %d lines, want at most 120", got)
	}
}

func TestPages_AreIndexed(t *testing.T) {
	index := read(t, "docs/README.md")
	for file := range pages(t) {
		page, ok := strings.CutPrefix(file, "docs/")
		if ok && page != "README.md" && !strings.Contains(index, "("+page+")") {
			t.Errorf("docs/README.md does not link %s", page)
		}
	}
}

var (
	fence   = regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
)

// anchors returns the fragments that GitHub creates for a page's headings.
func anchors(text string) []string {
	var found []string
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		slug := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, strings.TrimSpace(h[1]))
		found = append(found, slug)
	}
	return found
}

func TestLinks_Resolve(t *testing.T) {
	for file, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			target, anchor, _ := strings.Cut(m[1], "#")
			to := file
			if target != "" {
				to = path.Join(path.Dir(file), target)
			}
			if !exists(to) {
				t.Errorf("%s: link to %s, which does not exist", file, m[1])
			} else if anchor != "" && !slices.Contains(anchors(read(t, to)), anchor) {
				t.Errorf("%s: link to %s: no such heading", file, m[1])
			}
		}
	}
}

// Pictures are few and small, and pages show each of them. TestLinks_Resolve finds those that are missing.
func TestScreenshots_AreShownAndSmall(t *testing.T) {
	const (
		maxPictures, maxBytes, maxMovingBytes = 16, 200_000, 2_000_000
		folder                                = "docs/screenshots"
	)
	files, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil || len(files) == 0 || len(files) > maxPictures {
		t.Fatalf("got %d pictures, want 1 to %d (%v)", len(files), maxPictures, err)
	}
	shown := map[string]bool{}
	for file, text := range pages(t) {
		for _, l := range link.FindAllStringSubmatch(text, -1) {
			shown[filepath.ToSlash(filepath.Join(filepath.Dir(file), l[1]))] = true
		}
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		limit := int64(maxBytes)
		if filepath.Ext(f.Name()) == ".gif" {
			limit = maxMovingBytes
		}
		if path := folder + "/" + f.Name(); !shown[path] {
			t.Errorf("no page shows %s: show it, or delete it and its line in web/browser/pictures.test.ts", path)
		}
		if info.Size() > limit {
			t.Errorf("%s has %d bytes, want at most %d", f.Name(), info.Size(), limit)
		}
	}
}

// comment is a comment of a source file, or a page.
type comment struct {
	where, text string
	packages    []string // of a Go file: its package and the packages of this module that it imports
}

var lineComment = map[string]*regexp.Regexp{
	".ts": regexp.MustCompile(`(?:^|\s)//(.*)`), ".sql": regexp.MustCompile(`--(.*)`),
	".yml": regexp.MustCompile(`(?:^|\s)#(.*)`),
}

// parsed caches the result of comments.
var parsed []comment

// comments returns the comments of all source files, and the pages.
func comments(t *testing.T) []comment {
	t.Helper()
	if parsed == nil {
		parsed = readComments(t)
	}
	return parsed
}

func readComments(t *testing.T) []comment {
	t.Helper()
	lineComment[".tsx"], lineComment[".js"] = lineComment[".ts"], lineComment[".ts"]
	lineComment[".yaml"], lineComment[".sh"], lineComment[".lua"] = lineComment[".yml"], lineComment[".yml"],
		lineComment[".sql"]
	var found []comment
	for file, text := range pages(t) {
		if file != "CHANGELOG.md" { // lists past names
			found = append(found, comment{where: file, text: text})
		}
	}
	walk(t, func(file string) {
		if strings.HasPrefix(file, "api/spec/") {
			return // generated from api/openapi.yaml
		}
		set := token.NewFileSet()
		source, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.ParseComments)
		if err != nil {
			if !strings.Contains(file, "testdata/") {
				t.Error(err)
			}
			return
		}
		names := []string{strings.TrimSuffix(source.Name.Name, "_test")}
		for _, i := range source.Imports {
			if p := strings.Trim(i.Path.Value, `"`); strings.HasPrefix(p, "dateline/") {
				names = append(names, path.Base(p))
			}
		}
		for _, group := range source.Comments {
			found = append(found, comment{
				fmt.Sprintf("%s:%d", file, set.Position(group.Pos()).Line), group.Text(), names,
			})
		}
	}, ".go")
	walk(t, func(file string) {
		if strings.Contains(file, "testdata/") {
			return
		}
		for n, line := range strings.Split(read(t, file), "\n") {
			if m := lineComment[filepath.Ext(file)].FindStringSubmatch(line); m != nil {
				found = append(found, comment{where: fmt.Sprintf("%s:%d", file, n+1), text: m[1]})
			}
		}
	}, slices.Collect(maps.Keys(lineComment))...)
	return found
}

var (
	filePath = regexp.MustCompile(
		`(?:^|[\s("'\x60])((?:\.\./)*(?:activities|api|deploy|docs|e2e|internal|platforms|scripts|web|worker|workflows)/[^\s"'\x60)\],;:]+)`)
	// A Go file, a query file or a page by its base name.
	fileName = regexp.MustCompile(`(?:^|[\s("'\x60])([a-z][\w-]*\.(?:go|sql|lua|md|tsx))(?:[\s).,;:'"\x60]|$)`)
)

// foreign are names that look like files of this project: GoToSocial's sources and an
// object of Kubernetes.
var foreign = []string{"internal/middleware/ratelimit.go", "deploy/dateline-api"}

func TestFileReferences_Exist(t *testing.T) {
	names := map[string]bool{}
	walk(t, func(file string) { names[path.Base(file)] = true }, ".go", ".sql", ".lua", ".md", ".tsx")
	for _, c := range comments(t) {
		for _, m := range filePath.FindAllStringSubmatch(c.text, -1) {
			name := strings.TrimRight(m[1], ".’")
			if strings.ContainsAny(name, "<>*{}…$?=|\\") || strings.HasPrefix(name, "../") ||
				slices.Contains(foreign, name) {
				continue
			}
			name, anchor, _ := strings.Cut(name, "#")
			name = strings.TrimSuffix(name, "/...")
			isPath := strings.Contains(path.Base(name), ".") ||
				slices.ContainsFunc([]string{"internal/", "platforms/", "deploy/", "docs/"}, func(folder string) bool {
					return strings.HasPrefix(name, folder)
				})
			switch {
			case !isPath || exists(name):
			// A package's identifier exists by its package
			case !strings.Contains(path.Base(name), "."),
				!exists(path.Dir(name) + "/" + strings.SplitN(path.Base(name), ".", 2)[0]):
				t.Errorf("%s names %s, which does not exist", c.where, name)
			}
			if anchor != "" && strings.HasSuffix(name, ".md") && exists(name) &&
				!slices.Contains(anchors(read(t, name)), anchor) {
				t.Errorf("%s names %s#%s: no such heading", c.where, name, anchor)
			}
		}
		for _, m := range fileName.FindAllStringSubmatch(c.text, -1) {
			if !names[m[1]] && !slices.Contains(foreign, m[1]) {
				t.Errorf("%s names %s, which does not exist", c.where, m[1])
			}
		}
	}
}

// declared returns the names of each package, with the methods and fields of its types,
// and the names of all functions.
func declared(t *testing.T) (packages map[string]map[string]bool, functions map[string]bool) {
	t.Helper()
	packages, functions = map[string]map[string]bool{}, map[string]bool{}
	walk(t, func(file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return
		}
		name := strings.TrimSuffix(parsed.Name.Name, "_test")
		if packages[name] == nil {
			packages[name] = map[string]bool{}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				packages[name][n.Name.Name] = true
				functions[n.Name.Name] = true
			case *ast.TypeSpec:
				packages[name][n.Name.Name] = true
			case *ast.ValueSpec:
				for _, v := range n.Names {
					packages[name][v.Name] = true
				}
			case *ast.Field:
				for _, v := range n.Names {
					packages[name][v.Name] = true
				}
			}
			return true
		})
	}, ".go")
	return packages, functions
}

var (
	testName   = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
	identifier = regexp.MustCompile(`(?:^|[\s(\[\x60])\*?([a-z][a-z0-9]+)\.([A-Z]\w+)(?:\.([A-Z]\w+))?`)
)

func TestIdentifierReferences_Exist(t *testing.T) {
	packages, functions := declared(t)
	for _, c := range comments(t) {
		if strings.HasPrefix(c.where, "docs/docs_test.go") {
			continue
		}
		for _, name := range testName.FindAllString(c.text, -1) {
			if !functions[name] && !strings.HasSuffix(name, "_") && name != "TestSubject_Behavior" {
				t.Errorf("%s names %s, which does not exist", c.where, name)
			}
		}
		for _, m := range identifier.FindAllStringSubmatch(c.text, -1) {
			known, isOwn := packages[m[1]]
			if !isOwn || c.packages != nil && !slices.Contains(c.packages, m[1]) {
				continue
			}
			if !known[m[2]] || m[3] != "" && !known[m[3]] {
				t.Errorf("%s names %s, which does not exist", c.where,
					strings.TrimSpace(strings.TrimLeft(m[0], " (`[\n\t")))
			}
		}
	}
}

// environment are variables of Compose, of tests and of commands for a running instance, which are no settings.
var environment = []string{
	"DATELINE_VERSION", "DATELINE_TEST_CACHE", "DATELINE_URL", "DATELINE_TOKEN",
	"DATELINE_PROFILE", "DATELINE_PROFILES",
}

func TestSettingReferences_Exist(t *testing.T) {
	settings := read(t, "dateline.env.example")
	for file, text := range pages(t) {
		for _, name := range regexp.MustCompile(`\b(?:DATELINE|OIDC|MEILISEARCH|EMBEDDINGS|OTEL|S3)_[A-Z0-9_]+\b`).
			FindAllString(text, -1) {
			if !strings.Contains(settings, "#"+name+"=") && !slices.Contains(environment, name) &&
				!strings.HasPrefix(name, "OTEL_") {
				t.Errorf("%s names the setting %s, which does not exist", file, name)
			}
		}
	}
}

// external are names of other programs that pages mention.
var external = []string{"pg_trgm", "pool_max_conns"}

// Fields, columns, codes and states in pages occur in the code.
func TestNameReferences_OccurInCode(t *testing.T) {
	var code strings.Builder
	walk(t, func(file string) {
		if !strings.HasPrefix(file, "docs/") {
			code.WriteString(read(t, file))
		}
	}, ".go", ".yaml", ".yml", ".sql", ".lua", ".ts", ".js", ".example")
	span, name := regexp.MustCompile("`[^`\n]+`"), regexp.MustCompile(`\b[a-z]+(?:_[a-z0-9]+)+\b`)
	for file, text := range pages(t) {
		for _, s := range span.FindAllString(fence.ReplaceAllString(text, ""), -1) {
			if strings.ContainsAny(s, "/.") {
				continue // a file or a URL
			}
			for _, n := range name.FindAllString(s, -1) {
				if !slices.Contains(external, n) && !strings.Contains(code.String(), n) {
					t.Errorf("%s names %s, which does not occur in the code", file, n)
				}
			}
		}
	}
}

func TestMetricReferences_Exist(t *testing.T) {
	var metrics []string
	for _, i := range telemetry.Instruments() {
		metrics = append(metrics, i.Name)
	}
	for file, text := range pages(t) {
		for _, name := range regexp.MustCompile(`\bdateline_[a-z0-9_]+[a-z0-9]\b`).FindAllString(text, -1) {
			if !slices.Contains(metrics, name) && name != "dateline_optout" && name != linkcode.Parameter {
				t.Errorf("%s names the metric %s, which does not exist", file, name)
			}
		}
	}
}

func TestMakeTargets_Exist(t *testing.T) {
	makefiles := map[string]string{"": read(t, "Makefile"), "bench/": read(t, "bench/Makefile")}
	command := regexp.MustCompile("(?m)(?:`|^\\s*)make (bench/)?([a-z][a-z-]+)")
	for file, text := range pages(t) {
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefiles[m[1]], "\n"+m[2]+":") {
				t.Errorf("%s names %s, which does not exist", file, m[0])
			}
		}
	}
}

// contract is the part of api/openapi.yaml that is used.
type contract struct {
	Paths      map[string]map[string]any
	Components struct {
		Schemas map[string]struct{ Enum []string }
	}
}

func openapi(t *testing.T) contract {
	t.Helper()
	var c contract
	if err := yaml.Unmarshal([]byte(read(t, "api/openapi.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOperations_Exist(t *testing.T) {
	parameter := regexp.MustCompile(`\{[^}]*\}|<[^>]*>|\$\w+`)
	known := map[string]bool{}
	for p, operations := range openapi(t).Paths {
		for method := range operations {
			known[strings.ToUpper(method)+" "+parameter.ReplaceAllString(p, "{}")] = true
		}
	}
	known["GET /metrics"], known["GET /v1/d.js"] = true, true
	addresses := map[string]bool{}
	for operation := range known {
		_, address, _ := strings.Cut(operation, " ")
		addresses[address] = true
	}
	variable := regexp.MustCompile(`news\.example|\$[A-Z]+`)
	for file, text := range pages(t) {
		for _, m := range regexp.MustCompile(`\$API(/api/[\w/$.-]+)`).FindAllStringSubmatch(text, -1) {
			if name := variable.ReplaceAllString(m[1], "{}"); !addresses[name] && name != "/api/openapi.yaml" {
				t.Errorf("%s requests %s, which does not exist", file, m[1])
			}
		}
		for _, m := range regexp.MustCompile("`(GET|POST|PUT|PATCH|DELETE) (/[^\\s`?]+)").FindAllStringSubmatch(text,
			-1) {
			if name := m[1] + " " + parameter.ReplaceAllString(m[2], "{}"); !known[name] {
				t.Errorf("%s names the operation %s %s, which does not exist", file, m[1], m[2])
			}
		}
	}
}

func TestWebhookTypes_AreDocumented(t *testing.T) {
	page := read(t, "docs/how-to/receive-webhooks.md")
	types := openapi(t).Components.Schemas["WebhookType"].Enum
	if len(types) == 0 {
		t.Fatal("WebhookType has no values")
	}
	for _, name := range types {
		if !strings.Contains(page, "| `"+name+"` |") {
			t.Errorf("docs/how-to/receive-webhooks.md does not list %s", name)
		}
	}
}

func TestScopes_AreDocumented(t *testing.T) {
	page := read(t, "docs/reference/permissions.md")
	for _, scope := range openapi(t).Components.Schemas["Scope"].Enum {
		area, _, _ := strings.Cut(scope, ":")
		if !strings.Contains(page, "`"+area+"`") {
			t.Errorf("docs/reference/permissions.md does not list the scope %s", scope)
		}
	}
}

func TestFilterReasons_AreDocumented(t *testing.T) {
	page := read(t, "docs/reference/tracker.md")
	for _, reason := range botfilter.Reasons() {
		if !strings.Contains(page, "`"+string(reason)+"`") {
			t.Errorf("docs/reference/tracker.md does not list the reason %s", reason)
		}
	}
}

func TestCommands_AreDocumented(t *testing.T) {
	page := read(t, "docs/reference/cli.md")
	commands := regexp.MustCompile(`(?m)^  ([a-z-]+) +[a-z]`).
		FindAllStringSubmatch(read(t, "internal/cli/testdata/help/dateline.txt"), -1)
	if len(commands) == 0 {
		t.Fatal("internal/cli/testdata/help/dateline.txt lists no commands")
	}
	for _, m := range commands {
		if m[1] == "dateline" {
			continue
		}
		if !strings.Contains(page, "| `dateline "+m[1]) {
			t.Errorf("docs/reference/cli.md does not list dateline %s", m[1])
		}
	}
}

// The names that operators pass to the temporal command.
func TestTemporalNames_Exist(t *testing.T) {
	var source strings.Builder
	walk(t, func(file string) {
		if strings.HasPrefix(file, "workflows/") && !strings.HasSuffix(file, "_test.go") {
			source.WriteString(read(t, file))
		}
	}, ".go")
	text := read(t, "docs/reference/temporal.md")
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\| ([^|]+) \\|").FindAllStringSubmatch(text, -1) {
		for _, cell := range row[1:] {
			for _, m := range regexp.MustCompile("`([A-Za-z_-]+)(/<[^>]*>)?`").FindAllStringSubmatch(cell, -1) {
				want := `"` + m[1] + `"`
				if m[2] != "" {
					want = `"` + m[1] + `/`
				}
				if !strings.Contains(source.String(), want) {
					t.Errorf("docs/reference/temporal.md names %s, which package workflows does not", m[1])
				}
			}
		}
	}
	for _, m := range regexp.MustCompile(`"([a-z]+-[a-z-]+)"`).FindAllStringSubmatch(source.String(), -1) {
		if !strings.Contains(text, "`"+m[1]+"`") && !strings.Contains(text, "`"+m[1]+"/") {
			t.Logf("docs/reference/temporal.md may lack %s", m[1])
		}
	}
}

// settingsPage is docs/reference/settings.md, generated from dateline.env.example.
func settingsPage(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("# Settings\n\nFrom the environment, else from a file (`./dateline.env` or `--config FILE`), else " +
		"the defaults below.\n" +
		"[dateline.env.example](../../dateline.env.example) also says which values each accepts; so does `dateline " +
		"settings`.\n" +
		"All invalid settings are reported at once at startup. Code: `internal/infra/config`.\n\n" +
		"This page is generated: `make generate`.\n")
	var help, standard string
	for line := range strings.Lines(read(t, "dateline.env.example")) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "# ---- "):
			title, note, _ := strings.Cut(strings.Trim(line, "# -"), ": ")
			title, note2, ok := strings.Cut(title, "; ")
			if ok {
				note = note2
			}
			fmt.Fprintf(&b, "\n## %s\n\n", title)
			if note != "" {
				fmt.Fprintf(&b, "%s.\n\n", strings.ToUpper(note[:1])+note[1:])
			}
			b.WriteString("| setting | default | meaning |\n|---|---|---|\n")
			help = ""
		case strings.HasPrefix(line, "# Accepts: "):
		case strings.HasPrefix(line, "# Default: "):
			standard = strings.TrimSuffix(strings.TrimPrefix(line, "# Default: "), ".")
		case strings.HasPrefix(line, "# "):
			help, standard = strings.TrimPrefix(line, "# "), ""
		case strings.HasPrefix(line, "#"):
			name, value, _ := strings.Cut(line[1:], "=")
			if value != "" {
				standard = "`" + value + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, strings.ReplaceAll(standard, "<", "\\<"),
				strings.ReplaceAll(strings.ReplaceAll(help, "|", "\\|"), "<", "\\<"))
			standard = ""
		}
	}
	return b.String()
}

func TestSettingsPage_IsUpToDate(t *testing.T) {
	want := settingsPage(t)
	if *update {
		if err := os.WriteFile(filepath.Join(root, "docs/reference/settings.md"), []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, "docs/reference/settings.md"); got != want {
		t.Error("docs/reference/settings.md is stale: make generate")
	}
}
