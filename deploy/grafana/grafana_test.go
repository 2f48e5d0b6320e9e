package grafana

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"dateline/internal/infra/telemetry"
)

var update = flag.Bool("update", false, "regenerate the dashboards")

func TestDashboardsAreUpToDate(t *testing.T) {
	var want []string
	for _, d := range Dashboards() {
		raw, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("dashboards", strings.TrimPrefix(d.UID, "dateline-")+".json")
		want = append(want, file)
		if *update {
			if err := os.WriteFile(file, raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%s differs from the program; regenerate it with: go test ./deploy/grafana -update (%v)", file,
				err)
		}
	}
	got, err := filepath.Glob("dashboards/*")
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("there are %v, want %v (%v)", got, want, err)
	}
}

// Panels query declared metrics, and together all of them.
func TestPanelsAskForWhatIsMeasured(t *testing.T) {
	measured := map[string]bool{}
	for _, i := range telemetry.Instruments() {
		measured[i.Name] = false
	}
	names := regexp.MustCompile(`dateline_\w+`)
	for _, d := range Dashboards() {
		titles := map[string]bool{}
		for _, row := range d.Rows {
			for _, p := range row.Panels {
				if titles[row.Title+p.Title] || len(p.Lines) == 0 {
					t.Errorf("%s: %q exists twice or has no query", d.Title, p.Title)
				}
				titles[row.Title+p.Title] = true
				for _, line := range p.Lines {
					for _, name := range names.FindAllString(line.Query, -1) {
						base := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
						if _, ok := measured[base]; !ok {
							t.Errorf("%s queries %s, which is not declared", p.Title, name)
						}
						measured[base] = true
					}
				}
			}
		}
	}
	for name, shown := range measured {
		if !shown {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// Grafana finds the data source and the dashboards by the provisioning files.
func TestProvisioning(t *testing.T) {
	var sources struct {
		Datasources []struct{ Name, Type, UID, URL string }
	}
	var providers struct {
		Providers []struct {
			Options struct{ Path string }
		}
	}
	for file, into := range map[string]any{
		"provisioning/datasources/prometheus.yml": &sources,
		"provisioning/dashboards/dateline.yml":    &providers,
	} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(raw, into); err != nil {
			t.Fatal(err)
		}
	}
	if len(sources.Datasources) != 1 || sources.Datasources[0].UID != datasource ||
		sources.Datasources[0].Type != "prometheus" {
		t.Errorf("%+v", sources)
	}
	if len(providers.Providers) != 1 || providers.Providers[0].Options.Path != "/etc/grafana/dashboards" {
		t.Errorf("%+v", providers)
	}
}
