// Package grafana describes the dashboards that an operator sees. The files in
// dashboards/ are written from it: go test ./deploy/grafana -update.
package grafana

import (
	"encoding/json"
	"fmt"
)

// Dashboard is one page of Grafana.
type Dashboard struct {
	UID, Title, About string
	Rows              []Row
}

// Row is a line of panels under a heading.
type Row struct {
	Title  string
	Panels []Panel
}

// Panel shows one thing.
type Panel struct {
	Title string
	About string // how to interpret it
	Unit  string // as Grafana names it
	Now   bool   // the present number, not its history
	Lines []Line
}

// Line is one question to Prometheus.
type Line struct {
	Query  string
	Legend string
}

// datasource is the name of Prometheus in provisioning/datasources.
const datasource = "dateline-prometheus"

const (
	columns = 24 // of Grafana's grid
	high    = 8
	low     = 4
)

// JSON is the file that Grafana reads
// (grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/).
func (d Dashboard) JSON() ([]byte, error) {
	source := map[string]any{"type": "prometheus", "uid": datasource}
	var panels []map[string]any
	y := 0
	for _, row := range d.Rows {
		panels = append(panels, map[string]any{
			"id": len(panels) + 1, "type": "row", "title": row.Title,
			"collapsed": false,
			"gridPos":   gridPosition(0, y, columns, 1), "panels": []any{},
		})
		y++
		x, tallest := 0, 0
		for _, p := range row.Panels {
			kind, width, height := "timeseries", columns/2, high
			if p.Now {
				kind, width, height = "stat", columns/6, low
			}
			if x+width > columns {
				x, y, tallest = 0, y+tallest, 0
			}
			panels = append(panels, p.json(len(panels)+1, kind, source, gridPosition(x, y, width, height)))
			x, tallest = x+width, max(tallest, height)
		}
		y += tallest
	}
	raw, err := json.MarshalIndent(map[string]any{
		"uid": d.UID, "title": d.Title, "description": d.About, "tags": []string{"dateline"}, "timezone": "browser",
		"editable":      false,
		"schemaVersion": 39, "version": 1, "refresh": "10s", "time": map[string]string{"from": "now-1h", "to": "now"},
		"links": []any{
			map[string]any{
				"type": "dashboards", "tags": []string{"dateline"}, "title": "Dateline", "asDropdown": false,
				"includeVars": false, "keepTime": true,
			},
		},
		"panels": panels,
	}, "", "  ")
	return append(raw, '\n'), err
}

func gridPosition(x, y, w, h int) map[string]int {
	return map[string]int{"x": x, "y": y, "w": w, "h": h}
}

func (p Panel) json(id int, kind string, source map[string]any, at map[string]int) map[string]any {
	var targets []any
	for i, line := range p.Lines {
		targets = append(targets, map[string]any{
			"refId": fmt.Sprintf("%c", 'A'+i), "datasource": source,
			"expr":         line.Query,
			"legendFormat": line.Legend, "instant": p.Now, "range": !p.Now,
		})
	}
	options := map[string]any{
		"legend":  map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": true},
		"tooltip": map[string]any{"mode": "multi", "sort": "desc"},
	}
	if p.Now {
		options = map[string]any{
			"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
			"colorMode":     "none", "graphMode": "none", "textMode": "auto",
		}
	}
	return map[string]any{
		"id": id, "type": kind, "title": p.Title, "description": p.About, "datasource": source,
		"gridPos": at, "targets": targets,
		"fieldConfig": map[string]any{
			"defaults":  map[string]any{"unit": p.Unit, "custom": map[string]any{}},
			"overrides": []any{},
		}, "options": options,
	}
}
