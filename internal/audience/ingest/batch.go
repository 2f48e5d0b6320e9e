package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/infra/apperr"
)

const (
	maxBatchBytes = 2 << 20 // bytes
	maxBatchHits  = 1000
	// maxHitAge is the maximum age of a hit: as long as salts are retained.
	maxHitAge = 48 * time.Hour
)

// serverHit is a hit of one reader, or an event, sent by a server.
type serverHit struct {
	Type      string     `json:"type"`
	Page      string     `json:"page"`
	URL       string     `json:"url"`
	Referrer  string     `json:"referrer"`
	Visitor   string     `json:"visitor"`
	User      string     `json:"user"`
	Address   string     `json:"address"`
	UserAgent string     `json:"user_agent"`
	OptOut    bool       `json:"opt_out"`
	Time      *time.Time `json:"time"`
	// Properties of a declared event.
	Properties map[string]string `json:"properties"`
}

// batchResult is the response to a batch.
type batchResult struct {
	Accepted int            `json:"accepted"` // in Redis
	Counted  int            `json:"counted"`  // of these, not duplicates
	Filtered map[string]int `json:"filtered"` // by reason
	Rejected []rejectedRow  `json:"rejected"` // invalid rows
}

type rejectedRow struct {
	Index  int          `json:"index"`
	Errors []fieldError `json:"errors"`
}

// handleBatch serves POST /v1/batch: hits of many readers sent by a server.
func (in *Handler) handleBatch(w http.ResponseWriter, r *http.Request) {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || key == "" {
		w.Header().Set("WWW-Authenticate", `Bearer realm="dateline"`)
		writeProblem(w, http.StatusUnauthorized, "secret_required",
			"Send the site's secret key: Authorization: Bearer <key>.")
		return
	}
	s, ok := in.Sites.BySecret(key)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="dateline", error="invalid_token"`)
		writeProblem(w, http.StatusUnauthorized, "secret_invalid", "No site has this secret key.")
		return
	}
	rows, ok := readRows(w, r)
	if !ok {
		return
	}
	out, err := in.countRows(r, s, rows)
	if err != nil {
		in.writeError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_ = json.NewEncoder(w).Encode(out)
}

// readRows reads a JSON array or newline-delimited JSON.
func readRows(w http.ResponseWriter, r *http.Request) ([]json.RawMessage, bool) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	kind = strings.TrimSpace(kind)
	if kind != "application/json" && kind != "application/x-ndjson" {
		writeProblem(w, http.StatusUnsupportedMediaType, "unsupported_media_type",
			"Send the body as application/json or application/x-ndjson.",
			apperr.FieldError{
				Field: "Content-Type", Code: "unsupported",
				Message: "Must be application/json or application/x-ndjson.",
			})
		return nil, false
	}
	raw, ok := readBody(w, r, maxBatchBytes)
	if !ok {
		return nil, false
	}
	var rows []json.RawMessage
	if kind == "application/x-ndjson" {
		for line := range bytes.Lines(raw) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				rows = append(rows, line)
			}
		}
	} else if err := json.Unmarshal(raw, &rows); err != nil {
		writeProblem(w, http.StatusBadRequest, "invalid_request", "The body is not valid JSON.",
			apperr.FieldError{
				Field: "body", Code: "not_json",
				Message: "Send a JSON array of hits, or one hit per line as application/x-ndjson.",
			})
		return nil, false
	}
	if len(rows) == 0 || len(rows) > maxBatchHits {
		writeInvalid(w, apperr.FieldError{
			Field: "body", Code: "too_many", Message: fmt.Sprintf("Send from 1 to %d hits.", maxBatchHits),
		})
		return nil, false
	}
	return rows, true
}

// rows are the valid rows of a batch.
type rows struct {
	hits     []counter.Hit
	events   []counter.Event
	filtered []counter.FilteredHit
}

func (in *Handler) countRows(r *http.Request, s *site.Active, raws []json.RawMessage) (batchResult, error) {
	out := batchResult{Filtered: map[string]int{}, Rejected: []rejectedRow{}}
	var all rows
	now := in.now()
	for i, raw := range raws {
		problems, err := in.addRow(r.Context(), s, raw, now, &all)
		if err != nil {
			if problems = requestErrors(err); problems == nil {
				return batchResult{}, err
			}
		}
		if len(problems) > 0 {
			out.Rejected = append(out.Rejected, rejectedRow{i, fieldErrors(problems)})
		}
	}
	for _, f := range all.filtered {
		out.Filtered[f.Reason]++
	}
	if len(all.filtered) > 0 {
		if err := in.Bulk.CountFiltered(r.Context(), all.filtered); err != nil {
			return batchResult{}, err
		}
	}
	if len(all.hits) > 0 {
		outcomes, err := in.Bulk.Count(r.Context(), all.hits)
		if err != nil {
			return batchResult{}, err
		}
		for _, o := range outcomes {
			if o.Counted {
				out.Counted++
			}
		}
	}
	// Last, because a server that repeats a failed batch counts its events again.
	if len(all.events) > 0 {
		if err := in.Bulk.CountEvents(r.Context(), all.events); err != nil {
			return batchResult{}, err
		}
		out.Counted += len(all.events)
	}
	if out.Accepted = len(all.hits) + len(all.events); out.Accepted > 0 {
		in.Notifier.Notify(s.ID)
	}
	return out, nil
}

// addRow adds one row, or returns what is wrong with it.
func (in *Handler) addRow(
	ctx context.Context, s *site.Active, raw []byte, now time.Time, all *rows,
) ([]apperr.FieldError, error) {
	row, h, reason, problems := in.parseRow(s, raw, now)
	if len(problems) > 0 {
		return problems, nil
	}
	h.page = in.pageName(h)
	filter := func(reason botfilter.Reason) {
		all.filtered = append(all.filtered, counter.FilteredHit{
			Site: s.CounterSite, Page: h.page, Reason: string(reason), At: h.at,
		})
	}
	if !isKind(string(h.kind)) {
		e, reason, hasUnknown := buildEvent(h, string(h.kind), row.Properties, reason)
		if reason != "" {
			filter(reason)
			return nil, nil
		}
		all.events = append(all.events, e)
		if hasUnknown {
			filter(unknownProperty)
		}
		return nil, nil
	}
	if reason != "" {
		filter(reason)
		return nil, nil
	}
	counted, err := in.buildHit(ctx, h)
	if err == nil {
		all.hits = append(all.hits, counted)
	}
	return nil, err
}

// parseRow parses one row. The server identified the reader, so everything
// except the time is trusted.
func (in *Handler) parseRow(
	s *site.Active, raw []byte, now time.Time,
) (row serverHit, h hit, reason botfilter.Reason, problems []apperr.FieldError) {
	if problem := decode(raw, &row); problem != nil {
		return row, h, "", []apperr.FieldError{*problem}
	}
	m := message{
		Type: row.Type, Page: row.Page, URL: row.URL, Referrer: row.Referrer, Visitor: row.Visitor,
		User: row.User,
	}
	if m.Type == "" {
		m.Type = string(counter.View)
	}
	h, problems = in.parseMessage(&http.Request{}, s, m)
	isEvent := !isKind(m.Type)
	if isEvent {
		problems = append(problems, checkProperties(row.Properties)...)
	} else if len(row.Properties) > 0 {
		problems = append(problems, propertiesOfHit())
	}
	h.at, h.traits.UserAgent = now, row.UserAgent
	if row.Time != nil {
		h.at = *row.Time
		if h.at.After(now) {
			h.at = now
		}
		if h.at.Before(now.Add(-maxHitAge)) {
			h.at = now.Add(-maxHitAge)
		}
	}
	if row.Address != "" {
		a, err := netip.ParseAddr(row.Address)
		if err != nil {
			problems = append(problems, apperr.FieldError{
				Field: "address", Code: "invalid", Message: "Must be an IP address.",
			})
		}
		h.traits.Address = a
	}
	isIdentified := row.User != "" || row.Visitor != "" && s.VisitorSite.UseCookie
	if !isEvent && !isIdentified && row.Address == "" {
		problems = append(problems, apperr.FieldError{
			Field: "address", Code: "required", Message: "Send user, visitor or address to identify the visitor.",
		})
	}
	switch {
	case row.OptOut:
		reason = botfilter.OptOut
	case row.UserAgent != "":
		reason = in.Bots.MatchAgent(row.UserAgent)
	}
	return row, h, reason, problems
}
