package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// replaced lists phrases that the standard terms of docs/glossary.md
// replace. They are looked for in all tracked text, also across line breaks.
func replaced() map[string]string {
	return map[string]string{
		`anew`:                                "again; restart",
		`play(s|ed|ing)? (it )?again`:         "replay",
		`kept search(es)?`:                    "saved search",
		`(told|tells?|telling) of`:            "notified of; describes",
		`lacking words?`:                      "excluded terms",
		`stretch(es)? of time`:                "time buckets",
		`frequent words?`:                     "stop words",
		`g(ive|ives|iving|ave|iven) up`:       "discard; stop retrying",
		`(goes|go|going|went) on`:             "resumes; continues",
		`it rests?|lets? (?:\w+ ){1,3}rest`:   "paused; pauses",
		`into use`:                            "activate",
		`tak(e|es|en|ing) back`:               "roll back; undo",
		`learn(s|ed|ing)? again from nothing`: "relearn",
		`general rules`:                       "generic extraction",
		`needs you`:                           "needs attention",
		`sent back`:                           "changes requested",
		`how it is read`:                      "selectors",
		`come(s)? back later`:                 "retry after",
		`crowds?`:                             "burst",
		`rush(es)?`:                           "in-flight burst",
		`onwards?`:                            "in-process retry",
		`freshen(s|ed|ing)?`:                  "ensure a fresh token",
		`obey(s|ed)?`:                         "apply a command; follow",
		`heed(s|ed|ing)?`:                     "follow",
		`revives?`:                            "ensure running",
		`surroundings`:                        "dependencies",
		`rosters?`:                            "worker registry",
		`silent workers?`:                     "unresponsive worker",
		`tally|tallies`:                       "flush",
		`intake`:                              "ingest",
		`vitals`:                              "host stats",
		`farewells?`:                          "disconnect result",
		`crew|hire[sd]?`:                      "worker pool; start",
		`small letters`:                       "lower case",
		`is no id`:                            "must be a UUID",
		`patience`:                            "timeout",
	}
}

// retiredNames lists words that must not be part of a declared name: ordinary
// English words that once named a mechanism.
func retiredNames() map[string]string {
	return map[string]string{
		"told": "notified, alerted", "kept": "saved, stored", "most": "max", "longest": "max", "few": "relaxBelow, min",
		"broad": "maxCandidates",
		"wide":  "countLimit", "deep": "rerankLimit", "says": "error", "uses": "usage", "crowd": "burst",
		"rush": "in-flight burst",
		"gate": "admission", "permit": "admission", "pass": "admission", "dismiss": "release",
		"onward": "in-process retry", "rounds": "attempts", "hold": "in flight", "holds": "in flight",
		"pulse": "heartbeat", "beat": "heartbeat", "freshen": "ensure fresh",
		"ours": "isInternal…", "obey": "apply command", "revive": "ensure running", "surroundings": "deps",
		"roster": "worker registry", "gone": "removed, dead",
		"tally": "flush", "intake": "ingest", "reading": "extraction", "desk": "scheduling", "sheet": "CSV",
		"condition": "status",
		"vitals":    "host stats", "starter": "Temporal client", "portable": "workspace archive", "crew": "worker pool",
		"hire": "start", "drain": "crawl", "drainer": "crawler", "draining": "crawling",
		"company": "minSecondBatch", "patience": "timeout", "way": "method", "standing": "token status",
		"wish": "request", "farewell": "disconnect result",
		"heads": "titles", "beginnings": "prefixes", "cards": "previews", "faces": "previews", "lacking": "excluded",
		"stretch": "bucket", "stretches": "buckets",
	}
}

// allowedNames are declared names that use such a word in its standard meaning,
// by word; the value is a pattern of names, with the reason beside it.
func allowedNames() map[string]*regexp.Regexp {
	re := regexp.MustCompile
	return map[string]*regexp.Regexp{
		// Package workflows/starter, the term of Temporal's samples
		"starter": re(`^(starter|starter_test|Starter|RefreshStarter|LearningStarter)$`),
		"reading": re(`^([rR]eading)$`), // of a clock
		// The news desk's account and dashboard
		"desk":  re(`^(desk|deskSelector)$`),
		"drain": re(`^(TestPodsGetTimeToDrain|Drain|drain)$`), // of pods, processes and channels
		// Of Compose's depends_on, and one to wait for
		"condition": re(`^[cC]ondition$`),
		// Posts on hold after a restore (--hold)
		"hold":  re(`^(hold|holdPolicy|Hold|HoldDue|HoldAll|HoldReconcile)$`),
		"uses":  re(`(^Uses|_Uses)`),           // the verb
		"deep":  re(`^(ErrTooDeep|rankDeep)$`), // nesting and crawl depth
		"few":   re(`^(ErrTooFewPages|tooFew)$`),
		"story": re(`^([a-zA-Z]*Story[a-zA-Z]*|story|storyPrefix|storyVideo)$`), // of Instagram and Facebook
		"gone":  re(`^(Gone|TestWebhook_GoneDisablesTheEndpoint)$`),             // HTTP 410
	}
}

// allowedText is text that may use a phrase, by phrase: files, with the reason.
func allowedText() map[string][]string {
	return map[string][]string{
		`revives?`:                {".golangci.yml", "api/seeds.go"}, // the linter revive
		`(goes|go|going|went) on`: {"README.md"},                     // the language Go
		`obey(s|ed)?`: { // instructions to a language model in hostile pages
			"internal/news/llm/skeleton_test.go", "internal/news/pipeline/hostile_test.go",
			"internal/news/pipeline/llm_test.go",
		},
		`patience`:       {"internal/testing/searchtest/articles.txt"},  // an English article
		`crew|hire[sd]?`: {"internal/testing/crawltest/stories_en.txt"}, // people, in invented articles
	}
}

func trackedFiles(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "-C", "..", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
}

// isGenerated reports whether a file is generated or recorded data.
func isGenerated(file string) bool {
	for _, part := range []string{
		"/testdata/", "/db/", "api/spec/", "api/openapi.yaml", "go.sum", "package-lock.json", "LICENSE", "NOTICE",
		"docs/terms_test.go", "docs/screenshots/", "docs/images/",
	} {
		if strings.Contains("/"+file, part) {
			return true
		}
	}
	return false
}

func TestTerms_TextUsesStandardTerms(t *testing.T) {
	// A phrase may continue on the next line, behind the sign of a comment.
	const gap = `\s+(?:(?://|#|--|\*)\s*)?`
	patterns := map[*regexp.Regexp]string{}
	var all []string
	for phrase, instead := range replaced() {
		spaced := strings.ReplaceAll(phrase, " ", gap)
		patterns[regexp.MustCompile(`(?i)\b(?:`+spaced+`)\b`)] = phrase + " → " + instead
		all = append(all, spaced)
	}
	// Most files have none of them, so check all phrases at once first.
	anyPhrase := regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
	for _, file := range trackedFiles(t) {
		raw, err := os.ReadFile(filepath.Join("..", file))
		if err != nil || isGenerated(file) || !utf8.Valid(raw) || !anyPhrase.Match(raw) {
			continue
		}
		for pattern, name := range patterns {
			phrase, _, _ := strings.Cut(name, " → ")
			if slices.Contains(allowedText()[phrase], file) {
				continue
			}
			for _, at := range pattern.FindAllIndex(raw, -1) {
				t.Errorf("%s:%d: %q: %s", file, 1+strings.Count(string(raw[:at[0]]), "\n"), raw[at[0]:at[1]], name)
			}
		}
	}
}

func TestTerms_NamesUseStandardTerms(t *testing.T) {
	retired, allowed := retiredNames(), allowedNames()
	report := func(where, name string) {
		for _, word := range words(name) {
			instead, ok := retired[word]
			if !ok || allowed[word] != nil && allowed[word].MatchString(name) {
				continue
			}
			t.Errorf("%s: %s: %s → %s", where, name, word, instead)
		}
	}
	for _, file := range trackedFiles(t) {
		if isGenerated(file) {
			continue
		}
		report(file, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
		switch {
		case strings.HasSuffix(file, ".go"):
			for where, name := range declaredNames(t, file) {
				report(where, name)
			}
		case strings.HasPrefix(file, "internal/storage/postgres/migrations/"), strings.HasPrefix(file, "api/openapi/"):
			raw, err := os.ReadFile(filepath.Join("..", file))
			if err != nil {
				t.Fatal(err)
			}
			// In SQL, columns and types begin a line; in YAML, properties and
			// parameters are keys or names.
			for _, m := range regexp.MustCompile(
				`(?m)^\s+(?:- \{? ?name: |- \{ ?\$?\w+: [^}]*name: )?([a-z][a-z_]*)(?::| +(?:uuid|text|int|bigint|timestamptz|boolean|jsonb|smallint|integer|real|date)\b)`).FindAllStringSubmatchIndex(string(raw), -1) {
				report(fmt.Sprintf("%s:%d", file, 1+strings.Count(string(raw[:m[2]]), "\n")), string(raw[m[2]:m[3]]))
			}
		}
	}
}

// declaredNames lists the names that a Go file declares, by position.
func declaredNames(t *testing.T, file string) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, filepath.Join("..", file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	add := func(idents ...*ast.Ident) {
		for _, id := range idents {
			at := files.Position(id.Pos())
			names[fmt.Sprintf("%s:%d:%d", file, at.Line, at.Column)] = id.Name
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name)
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.ValueSpec:
			add(n.Names...)
		case *ast.Field:
			add(n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					if id, ok := left.(*ast.Ident); ok {
						add(id)
					}
				}
			}
		}
		return true
	})
	return names
}

// words splits a name in camel case or snake case into its words, in lower case.
func words(name string) (out []string) {
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if r == '_' || r == '-' || r == '.' {
			flush()
			continue
		}
		if unicode.IsUpper(r) && (i > 0 && !unicode.IsUpper(runes[i-1]) || i+1 < len(runes) &&
			unicode.IsLower(runes[i+1])) {
			flush()
		}
		b.WriteRune(r)
	}
	flush()
	return out
}
