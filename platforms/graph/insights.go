package graph

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Insight is a metric of an insights edge. Meta renames them often, for all versions
// of the API at once, so adapters read the list from their options.
type Insight struct {
	Name   string         `json:"name"`          // Meta's name
	Metric network.Metric `json:"metric"`        // Dateline's
	Key    string         `json:"key,omitempty"` // of a value with several numbers; empty: their sum
}

// InsightsReader reads the insights of one object.
type InsightsReader struct {
	Insights []Insight
	Request  network.MeasureRequest
	// Get calls the edge for metrics, by Meta's names.
	Get func(ctx context.Context, metrics []string) (*call.Response, error)
}

// Read adds the insights to a post and returns the metrics that were refused. One
// retired name fails the whole call (code 100), so they are then read one by one.
// https://developers.facebook.com/docs/graph-api/reference/insights
func (r InsightsReader) Read(ctx context.Context, p *network.PostMetrics) (refused []string, err error) {
	var names []string
	for _, i := range r.Insights {
		if !slices.Contains(r.Request.Skip, i.Name) {
			names = append(names, i.Name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	err = r.read(ctx, names, p)
	if !IsRefusedMetric(err) {
		return nil, err
	}
	if len(names) == 1 {
		return names, nil
	}
	for _, name := range names {
		switch err := r.read(ctx, []string{name}, p); {
		case IsRefusedMetric(err):
			refused = append(refused, name)
		case err != nil:
			return refused, err
		}
	}
	return refused, nil
}

func (r InsightsReader) read(ctx context.Context, names []string, p *network.PostMetrics) error {
	if err := r.Request.Allow(ctx); err != nil {
		return err
	}
	res, err := r.Get(ctx, names)
	if err != nil {
		return err
	}
	var body struct {
		Data []struct {
			Name   string `json:"name"`
			Values []struct {
				Value json.RawMessage `json:"value"`
			} `json:"values"`
			Total struct {
				Value json.RawMessage `json:"value"`
			} `json:"total_value"`
		} `json:"data"`
	}
	if err := res.Decode(&body); err != nil {
		return err
	}
	for _, d := range body.Data {
		at := slices.IndexFunc(r.Insights, func(i Insight) bool { return i.Name == d.Name })
		if at < 0 {
			continue
		}
		raw := d.Total.Value
		if len(d.Values) > 0 {
			raw = d.Values[len(d.Values)-1].Value
		}
		p.Set(r.Insights[at].Metric, insightValue(raw, r.Insights[at].Key))
	}
	return nil
}

// insightValue parses a number, or an object of numbers; nil: neither.
func insightValue(raw json.RawMessage, key string) *int64 {
	var number *int64
	if json.Unmarshal(raw, &number) == nil {
		return number
	}
	var parts map[string]int64
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	sum := int64(0)
	for name, n := range parts {
		if key == "" || name == key {
			sum += n
		}
	}
	if key != "" && len(parts) == 0 {
		return nil
	}
	return &sum
}

// IsRefusedMetric reports whether Meta refused the name of a metric.
func IsRefusedMetric(err error) bool {
	var e *network.Error
	return errors.As(err, &e) && strings.HasPrefix(e.Code, "100") && strings.Contains(e.Message, "insights metric")
}

// IsMissingPermission reports whether a token lacks a permission (codes 10 and 200 to
// 299).
func IsMissingPermission(err error) bool {
	var e *network.Error
	if !errors.As(err, &e) {
		return false
	}
	code, _, _ := strings.Cut(e.Code, "/")
	return code == "10" && !strings.Contains(e.Message, "Not enough viewers") || len(code) == 3 && code[0] == '2'
}

// IsMissingObject reports whether an object does not exist or is not visible.
func IsMissingObject(err error) bool {
	var e *network.Error
	return errors.As(err, &e) && (e.Code == "100/33" || e.Code == "24/4279009" || e.Code == "24/2207006" ||
		strings.HasPrefix(e.Code, "803"))
}

// MergeRefused adds refused metrics to a list, each once.
func MergeRefused(list, refused []string) []string {
	for _, name := range refused {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// ReadQuota is the limit of calls that read, per account. Meta derives the real one
// from the use of the app, and reports only a percentage (Usage).
// https://developers.facebook.com/docs/graph-api/overview/rate-limiting
func ReadQuota(perHour int) network.Quota {
	return network.Quota{
		Bucket: "reads", Scope: network.ScopeAccount, Requests: perHour, Per: time.Hour,
		Costs: map[network.CallKind]int{network.CallMeasure: 1},
	}
}
