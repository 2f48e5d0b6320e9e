package observe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

// prometheus is a real Prometheus whose rules may run on a faster clock.
type prometheus struct {
	t    testing.TB
	base string
	dir  string

	mu      sync.Mutex
	fired   map[string]string // alerts that have fired, with their labels
	missing []string          // alerts that did not fire in time
}

// startPrometheus starts one that scrapes every two seconds. With rules, those of
// deploy/prometheus are evaluated every second, each "for", range and offset
// divided by faster.
func startPrometheus(t testing.TB, rules bool, faster int) *prometheus {
	t.Helper()
	path, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI=true and no Prometheus: install it (on Debian: apt-get install prometheus)")
		}
		t.Skip("prometheus is not installed (on Debian: apt-get install prometheus)")
	}
	p := &prometheus{
		t: t, base: "http://127.0.0.1:" + e2etest.FreePort(t), dir: e2etest.OpenDir(t),
		fired: map[string]string{},
	}
	// Repeat it after the output of all programs, which is long.
	t.Cleanup(func() {
		if len(p.missing) > 0 {
			t.Logf("did not fire: %s", strings.Join(p.missing, ", "))
		}
	})
	config := `global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s}
scrape_configs:
  - job_name: dateline
    file_sd_configs: [{files: ["` + p.dir + `/quick.json"], refresh_interval: 1s}]
  # A program that cannot reach an engine reports it after up to 5 s.
  - job_name: slow
    scrape_interval: 7s
    scrape_timeout: 7s
    relabel_configs: [{target_label: job, replacement: dateline}]
    file_sd_configs: [{files: ["` + p.dir + `/slow.json"], refresh_interval: 1s}]
`
	if rules {
		config += "rule_files: [\"" + p.dir + "/*_rules.yml\"]\n"
		files, err := filepath.Glob("../../deploy/prometheus/*_rules.yml")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			e2etest.Must(t, err)
			e2etest.Must(t, os.WriteFile(filepath.Join(p.dir, filepath.Base(file)),
				[]byte(quicker(string(text), faster)), 0o644))
		}
	}
	e2etest.Must(t, os.WriteFile(p.dir+"/prometheus.yml", []byte(config), 0o644))
	p.scrape("quick")
	p.scrape("slow")
	run(t, nil, path, "--config.file="+p.dir+"/prometheus.yml", "--storage.tsdb.path="+p.dir+"/data",
		"--web.listen-address="+strings.TrimPrefix(p.base, "http://"), "--log.level=warn")
	e2etest.Eventually(t, 90*time.Second, "Prometheus to be ready", func() bool {
		answer, err := http.Get(p.base + "/-/ready")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return p
}

// leastRange is the minimum range of a rule: it must include several scrapes even when
// one fails.
const leastRange = 12

// quicker divides the durations in rules.
func quicker(rules string, faster int) string {
	times := regexp.MustCompile(`(for: |\[|offset )(\d+)([mh])`)
	return times.ReplaceAllStringFunc(rules, func(s string) string {
		m := times.FindStringSubmatch(s)
		n, _ := strconv.Atoi(m[2])
		seconds := n * map[string]int{"m": 60, "h": 3600}[m[3]] / faster
		if m[1] == "[" {
			seconds = max(seconds, leastRange)
		}
		return fmt.Sprintf("%s%ds", m[1], seconds)
	})
}

// scrape registers the metrics address of a group of processes.
func (p *prometheus) scrape(group string, addresses ...string) {
	p.t.Helper()
	raw, err := json.Marshal([]map[string]any{{"targets": append([]string{}, addresses...)}})
	e2etest.Must(p.t, err)
	e2etest.Must(p.t, os.WriteFile(p.dir+"/"+group+".tmp", raw, 0o644))
	e2etest.Must(p.t, os.Rename(p.dir+"/"+group+".tmp", p.dir+"/"+group+".json"))
}

func (p *prometheus) get(path string, out any) error {
	answer, err := http.Get(p.base + path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var envelope struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(answer.Body).Decode(&envelope); err != nil {
		return err
	}
	if envelope.Status != "success" {
		return fmt.Errorf("%s: %s", path, envelope.Error)
	}
	return json.Unmarshal(envelope.Data, out)
}

// sample is one value of an answer.
type sample struct {
	Metric map[string]string
	Value  [2]any
}

// number is the sample's value.
func (s sample) number() float64 {
	text, _ := s.Value[1].(string)
	n, _ := strconv.ParseFloat(text, 64)
	return n
}

// query runs an instant query.
func (p *prometheus) query(expression string) ([]sample, error) {
	var data struct {
		ResultType string
		Result     json.RawMessage
	}
	if err := p.get("/api/v1/query?query="+url.QueryEscape(expression), &data); err != nil {
		return nil, err
	}
	var all []sample
	if data.ResultType != "vector" {
		return nil, fmt.Errorf("%s returned no vector", expression)
	}
	return all, json.Unmarshal(data.Result, &all)
}

// watch records every alert that fires until the test ends.
func (p *prometheus) watch() {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			p.look()
			select {
			case <-done:
				return
			case <-time.After(300 * time.Millisecond):
			}
		}
	})
	p.t.Cleanup(func() { close(done); ended.Wait() })
}

func (p *prometheus) look() {
	var data struct {
		Alerts []struct {
			Labels map[string]string
			State  string
		}
	}
	if p.get("/api/v1/alerts", &data) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range data.Alerts {
		if a.State != "firing" {
			continue
		}
		labels := fmt.Sprint(a.Labels)
		if !strings.Contains(p.fired[a.Labels["alertname"]], labels) {
			p.fired[a.Labels["alertname"]] += labels
		}
	}
}

// firing reports whether an alert with a label has fired.
func (p *prometheus) firing(alert, label string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	labels, ok := p.fired[alert]
	return ok && strings.Contains(labels, label)
}

func (p *prometheus) allFired() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]string{}
	for name, labels := range p.fired {
		all[name] = labels
	}
	return all
}

// alertTimeout is how long an alert may take to fire on a busy machine.
const alertTimeout = 4 * time.Minute

// fires waits for alerts, each as name or name{label:value}. Callers check that they
// have not fired before.
func (p *prometheus) fires(alerts ...string) {
	p.t.Helper()
	deadline := time.Now().Add(alertTimeout)
	for _, one := range alerts {
		name, label, _ := strings.Cut(strings.TrimSuffix(one, "}"), "{")
		for !p.firing(name, label) {
			if time.Now().After(deadline) {
				p.missing = append(p.missing, one)
				p.t.Errorf("%s did not fire within %s; fired have %v", one, alertTimeout, p.allFired())
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}
