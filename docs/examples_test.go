package docs_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const helpFolder = "internal/cli/testdata/help/"

// helpOf returns the help of the command that a line of an example runs, and its name.
func helpOf(t *testing.T, words []string) (help, command string) {
	t.Helper()
	command = "dateline"
	for _, word := range words[1:] {
		if !exists(helpFolder + command + "-" + word + ".txt") {
			break
		}
		command += "-" + word
	}
	return read(t, helpFolder+command+".txt"), strings.ReplaceAll(command, "-", " ")
}

var (
	flagName = regexp.MustCompile(`^--[a-z][a-z-]*`)
	program  = regexp.MustCompile(`(?:^\s*|[/` + "`" + `])dateline( [^` + "`" + `|&;#]+)`)
)

// Flags that pages and their examples pass to a command exist.
func TestCommandExamples_UseExistingFlags(t *testing.T) {
	for file, text := range pages(t) {
		if file == "CHANGELOG.md" { // lists past names
			continue
		}
		for line := range strings.Lines(text) {
			m := program.FindString(line)
			if !strings.Contains(m, " --") {
				continue
			}
			words := strings.Fields(strings.TrimLeft(m, " /`\t"))
			help, command := helpOf(t, words)
			for _, word := range words {
				if name := flagName.FindString(word); name != "" && !strings.Contains(help, name+" ") {
					t.Errorf("%s: %s has no flag %s", file, command, name)
				}
			}
		}
	}
}

func TestRestorePolicies_AreDocumented(t *testing.T) {
	values := func(pattern, file string) []string {
		var found []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, file), -1) {
			found = append(found, m[1])
		}
		slices.Sort(found)
		return found
	}
	want := values(`Hold = "([a-z]+)"`, "internal/ops/backup/restore.go")
	if got := values("`--hold ([a-z]+)`", "docs/how-to/back-up-and-restore.md"); len(want) == 0 ||
		!slices.Equal(got, want) {
		t.Errorf("docs/how-to/back-up-and-restore.md lists --hold %v, want %v", got, want)
	}
}

// Clients filter the audit log by action, and the dashboard shows a sentence for each.
func TestAuditActions_AreDocumentedAndTranslated(t *testing.T) {
	actions := regexp.MustCompile(`Action = "([a-z_.]+)"`).
		FindAllStringSubmatch(read(t, "internal/identity/audit/audit.go"), -1)
	if len(actions) == 0 {
		t.Fatal("internal/identity/audit/audit.go declares no actions")
	}
	description := read(t, "api/openapi.yaml")
	for _, language := range []string{"en", "vi"} {
		var texts struct{ Audit map[string]string }
		if err := json.Unmarshal([]byte(read(t, "web/src/i18n/"+language+".json")), &texts); err != nil {
			t.Fatal(err)
		}
		for _, m := range actions {
			key := strings.Replace(m[1], ".", "_", 1)
			if texts.Audit[key] == "" {
				t.Errorf("web/src/i18n/%s.json has no sentence audit.%s", language, key)
			}
			delete(texts.Audit, key)
		}
		for key := range texts.Audit {
			t.Errorf("web/src/i18n/%s.json has audit.%s, which is no action", language, key)
		}
	}
	for _, m := range actions {
		if !strings.Contains(description, "`"+m[1]+"`") {
			t.Errorf("api/openapi.yaml does not list the action %s", m[1])
		}
	}
}
