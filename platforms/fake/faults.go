package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// FaultKind is how a request fails.
type FaultKind string

// The kinds of fault.
const (
	Latency      FaultKind = "latency"        // waits For, then responds
	Refuse       FaultKind = "refuse"         // the port refuses all connections for For (default 1 s)
	ResetBefore  FaultKind = "reset_before"   // resets the connection without acting
	ActThenReset FaultKind = "act_then_reset" // acts, then resets the connection
	ActLate      FaultKind = "act_late"       // resets the connection, and acts after For
	ActThen500   FaultKind = "act_then_500"   // acts, then responds 500
	ActThenHang  FaultKind = "act_then_hang"  // acts, then does not respond for For (0: until the client disconnects)
	Status       FaultKind = "status"         // responds with Status without acting
	TokenExpired FaultKind = "token_expired"  // responds 401 without acting
	Hide         FaultKind = "hide"           // acts, but hides the post from listings for For
	Malformed2xx FaultKind = "malformed_2xx"  // acts, then responds 200 with invalid JSON
	SlowUpload   FaultKind = "slow_upload"    // reads the request's body slowly, over For
	ClockSkew    FaultKind = "clock_skew"     // the network's clock is For ahead (negative: behind)
	IgnoreKey    FaultKind = "ignore_key"     // ignores the request's Idempotency-Key
	IgnoreSince  FaultKind = "ignore_since"   // also lists posts from before the id or time that the request names
	// RetiredMetric makes the network not know a metric, by its own name in Metric:
	// it refuses calls that name it, and leaves it out of others.
	RetiredMetric FaultKind = "retired_metric"
	MissingScope  FaultKind = "missing_scope" // acts as if the token lacked Scope
	// Acts, but lists the text with Markdown, entities and punctuation applied
	RewriteText FaultKind = "rewrite_text"

	// Alter acts, but makes Part of the post otherwise than the request asked, as servers
	// do that do not know an option, and responds with success.
	Alter FaultKind = "alter"

	// Faults of uploads, per attachment.
	MediaFinished FaultKind = "media_finished" // processed for For, then ready
	MediaError    FaultKind = "media_error"    // processed for For, then failed
	MediaExpired  FaultKind = "media_expired"  // processed for For, then deleted
	MediaTTL      FaultKind = "media_life"     // deleted For after the upload unless a post uses it
)

// Fault makes matching requests fail. An empty Method, Path, Network or Account
// matches all. A fault with At is inactive until then: TokenExpired with At is a
// token that expires at that time, and stays expired unless Count is set.
type Fault struct {
	Kind    FaultKind `json:"kind"`
	Method  string    `json:"method,omitempty"`
	Path    string    `json:"path,omitempty"` // prefix
	Network string    `json:"network,omitempty"`
	Account string    `json:"account,omitempty"` // name
	// By the server's clock; earlier requests are not counted
	At          time.Time         `json:"at,omitzero"`
	Nth         int               `json:"nth,omitempty"`         // first match that fails, from 1; 0: 1
	Count       int               `json:"count,omitempty"`       // number of requests that fail; 0: one, -1: all
	Probability float64           `json:"probability,omitempty"` // 0: always
	For         time.Duration     `json:"-"`                     // "for" in JSON, as in "1.5s"
	Metric      string            `json:"metric,omitempty"`
	Scope       string            `json:"scope,omitempty"`
	Part        string            `json:"part,omitempty"` // of the post: see Parts
	Status      int               `json:"status,omitempty"`
	Header      map[string]string `json:"header,omitempty"`
	Body        string            `json:"body,omitempty"` // default: the network's message for the status
	Seen        int               `json:"seen"`           // matching requests so far
	Hits        int               `json:"hits"`           // number of these that failed
}

type plainFault Fault

// MarshalJSON encodes For as text.
func (f Fault) MarshalJSON() ([]byte, error) {
	out := struct {
		plainFault
		For string `json:"for,omitempty"`
	}{plainFault: plainFault(f)}
	if f.For != 0 {
		out.For = f.For.String()
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes For from text and refuses unknown fields.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var in struct {
		plainFault
		For string `json:"for"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return err
	}
	*f = Fault(in.plainFault)
	if in.For != "" {
		d, err := time.ParseDuration(in.For)
		if err != nil {
			return fmt.Errorf("for: %w", err)
		}
		f.For = d
	}
	return nil
}

func (f *Fault) validate() error {
	switch f.Kind {
	case Status:
		if f.Status < 200 || f.Status > 599 {
			return fmt.Errorf("a fault of kind status requires a status from 200 to 599, got %d", f.Status)
		}
	case RetiredMetric:
		if f.Metric == "" {
			return errors.New("a fault of kind retired_metric requires the name of a metric in \"metric\"")
		}
	case MissingScope:
		if f.Scope == "" {
			return errors.New("a fault of kind missing_scope requires a scope in \"scope\"")
		}
	case Alter:
		if !slices.Contains(Parts(), f.Part) {
			return fmt.Errorf("a fault of kind alter requires one of %s in \"part\"", strings.Join(Parts(), ", "))
		}
	case ActLate, Latency, Hide, SlowUpload, ClockSkew, MediaFinished, MediaError, MediaExpired, MediaTTL:
		if f.For == 0 {
			return fmt.Errorf("a fault of kind %s requires a duration in \"for\", such as \"2s\"", f.Kind)
		}
	case Refuse, ResetBefore, ActThenReset, ActThen500, ActThenHang, TokenExpired, Malformed2xx, IgnoreKey, IgnoreSince,
		RewriteText:
	default:
		return fmt.Errorf("unknown fault kind %q", f.Kind)
	}
	if f.Probability < 0 || f.Probability > 1 {
		return fmt.Errorf("probability must be between 0 and 1, got %v", f.Probability)
	}
	return nil
}

// Inject adds a fault.
func (s *Server) Inject(fault Fault) error {
	if err := fault.validate(); err != nil {
		return err
	}
	if fault.Kind == Refuse {
		if fault.For == 0 {
			fault.For = time.Second
		}
		_, err := s.Refuse(fault.For)
		return err
	}
	fault.Seen, fault.Hits = 0, 0
	if fault.Kind == TokenExpired && !fault.At.IsZero() && fault.Count == 0 {
		fault.Count = -1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &fault)
	return nil
}

// ClearFaults removes all faults.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// accountOf returns the account whose token a request contains; nil: none. The
// caller must hold s.mu.
func (s *Server) accountOf(r *http.Request, as *fakeNetwork) *Account {
	if t := s.state.tokens[as.token(r)]; t != nil {
		return s.state.accounts[t.AccountID]
	}
	return nil
}

// matches reports whether the fault applies to a request of an account.
func (f *Fault) matches(r *http.Request, as *fakeNetwork, account string) bool {
	isMethod := f.Method == "" || strings.EqualFold(f.Method, r.Method) ||
		as.putPublishes && f.Method == http.MethodPost && r.Method == http.MethodPut
	switch {
	case !isMethod, !strings.HasPrefix(r.URL.Path, f.Path),
		f.Network != "" && f.Network != as.name, f.Account != "" && f.Account != account:
		return false
	default:
		return true
	}
}

// matchFaults returns the faults that match a request and counts it.
func (s *Server) matchFaults(r *http.Request, as *fakeNetwork) []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) == 0 {
		return nil
	}
	now, name := s.now(), ""
	if a := s.accountOf(r, as); a != nil {
		name = a.Name
	}
	var hit []Fault
	for _, f := range s.faults {
		if !f.matches(r, as, name) || now.Before(f.At) {
			continue
		}
		f.Seen++
		if f.Seen < max(f.Nth, 1) || f.Count >= 0 && f.Hits >= max(f.Count, 1) ||
			f.Probability > 0 && rand.Float64() >= f.Probability { //nolint:gosec // not a secret
			continue
		}
		f.Hits++
		hit = append(hit, *f)
	}
	return hit
}

func (s controls) showFaults(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	list := make([]Fault, len(s.faults))
	for i, f := range s.faults {
		list[i] = *f
	}
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, list)
}

// putFaults replaces all faults.
func (s controls) putFaults(w http.ResponseWriter, r *http.Request) {
	var list []Fault
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&list)
	for i := 0; err == nil && i < len(list); i++ {
		err = list[i].validate()
	}
	if err == nil {
		s.ClearFaults()
		for i := 0; err == nil && i < len(list); i++ {
			err = s.Inject(list[i])
		}
	}
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	s.showFaults(w, r)
}

func (s controls) deleteFaults(w http.ResponseWriter, _ *http.Request) {
	s.ClearFaults()
	w.WriteHeader(http.StatusNoContent)
}
