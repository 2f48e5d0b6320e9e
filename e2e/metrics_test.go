package e2e

import (
	"io"
	"net/http"
	"strconv"
	"strings"
)

// scrape reads the metrics like Prometheus, with their labels in the order in which
// they are served.
func (d *dateline) scrape() map[string]float64 {
	d.t.Helper()
	answer, err := http.Get(d.metrics)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		d.t.Fatalf("%d %v %s", answer.StatusCode, err, body)
	}
	seen := map[string]float64{}
	for line := range strings.Lines(string(body)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "} ")
		if ok {
			name += "}"
		} else if name, value, ok = strings.Cut(name, " "); !ok {
			continue
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			seen[name] = n
		}
	}
	return seen
}
