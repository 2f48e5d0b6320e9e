package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"dateline/internal/infra/telemetry"
)

type ruleFile struct {
	Groups []struct {
		Rules []struct {
			Alert, Expr string
			Annotations map[string]string
		}
	}
}

// Prometheus' own tool checks the rules and runs their tests.
func TestPrometheusRules(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("promtool is missing; it comes with the package prometheus")
		}
		t.Skip("promtool is not installed (it comes with the package prometheus)")
	}
	if out, err := exec.Command(promtool, "check", "config", "--syntax-only", "prometheus/prometheus.yml").
		CombinedOutput(); err != nil {
		t.Errorf("promtool check config: %v\n%s", err, out)
	}
	for _, kind := range []string{"rules", "test"} {
		files, err := filepath.Glob("prometheus/*_" + kind + ".yml")
		if err != nil || len(files) < 2 {
			t.Fatalf("%v %v", files, err)
		}
		what := map[string]string{"rules": "check", "test": "test"}[kind]
		if out, err := exec.Command(promtool, append([]string{what, "rules"}, files...)...).
			CombinedOutput(); err != nil {
			t.Errorf("promtool %s rules: %v\n%s", what, err, out)
		}
	}
}

// Every alert has a runbook and a test, and queries declared metrics.
func TestAlerts(t *testing.T) {
	var measured []string
	for _, i := range telemetry.Instruments() {
		measured = append(measured, i.Name)
	}
	files, err := filepath.Glob("prometheus/*_rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		runbook := "docs/how-to/runbooks/" + strings.TrimSuffix(filepath.Base(file), "_rules.yml") + ".md"
		runbooks := readFile(t, runbook)
		tests := readFile(t, filepath.Join("deploy", strings.Replace(file, "_rules.yml", "_test.yml", 1)))
		var rules ruleFile
		if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join("deploy", file))), &rules); err != nil {
			t.Fatal(err)
		}
		for _, group := range rules.Groups {
			for _, r := range group.Rules {
				anchor := strings.TrimPrefix(r.Annotations["runbook"], runbook+"#")
				if !regexp.MustCompile(`(?mi)^## ` + anchor + `$`).MatchString(runbooks) {
					t.Errorf("%s: no runbook %q", r.Alert, anchor)
				}
				if !regexp.MustCompile(`alertname: ` + r.Alert + `\n\s+exp_alerts:\n`).MatchString(tests) {
					t.Errorf("%s: no test fires it", r.Alert)
				}
				for _, name := range regexp.MustCompile(`dateline_\w+`).FindAllString(r.Expr, -1) {
					name = regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
					if !slices.Contains(measured, name) {
						t.Errorf("%s queries %s, which is not declared", r.Alert, name)
					}
				}
			}
		}
	}
}
