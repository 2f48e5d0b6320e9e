package selector

import (
	"fmt"

	"dateline/internal/news/article"
)

// Action is what should be done about a site's selectors.
type Action string

// Actions.
const (
	ActionNone     Action = "none"
	ActionLearn    Action = "learn"     // nothing is known, or what is known no longer holds
	ActionRollBack Action = "roll_back" // the version in use is worse than the one before it
)

// Decision is an action and its reason, in words for the event that tells people.
type Decision struct {
	Action Action        `json:"action"`
	Field  article.Field `json:"field,omitempty"` // whose health decided
	Reason string        `json:"reason,omitempty"`
}

const (
	// healthWindow is how many of the last pages health is taken from.
	healthWindow = 10
	// minJudgedPages is how many pages a version is judged by at the earliest.
	minJudgedPages = 5
	// minBodyHealth and sickField are the health from which on down selectors are learned anew.
	minBodyHealth  = 0.6
	minFieldHealth = 0.4
	// maxHealthDrop is by how much a new version may fall behind the one before it.
	maxHealthDrop = 0.15
	// learnInterval is how many pages pass after an attempt to learn before the next.
	learnInterval = 10
	// failedLearnDelay is how many more pages pass where nothing was ever learned.
	failedLearnDelay = 45
)

// Monitor watches the selectors of one site. It is a value that is stored between pages: all
// of it is data, and what it decides depends on nothing else.
type Monitor struct {
	Version        int                       `json:"version"`                   // in use; 0 is none
	Previous       int                       `json:"previous,omitempty"`        // to roll back to; 0 is none
	Expected       map[article.Field]float64 `json:"expected,omitempty"`        // of the version in use, from validation
	PreviousHealth map[article.Field]float64 `json:"previous_health,omitempty"` // health of the version before it, when it was replaced
	Recent         []map[article.Field]bool  `json:"recent,omitempty"`          // the last pages, oldest first
	Pages          int                       `json:"pages"`                     // read since the version came into use
	SinceLearning  int                       `json:"since_learning"`            // pages since learning was last tried
}

// Record notes a page that was read.
func (m Monitor) Record(o Outcome) Monitor {
	recent := append(append([]map[article.Field]bool{}, m.Recent...), o.Found)
	if len(recent) > healthWindow {
		recent = recent[len(recent)-healthWindow:]
	}
	m.Recent = recent
	m.Pages++
	m.SinceLearning++
	return m
}

// Activate takes a version into use.
func (m Monitor) Activate(c Config) Monitor {
	before := m.Health()
	if m.Pages == 0 {
		before = nil
	}
	return Monitor{Version: c.Version, Previous: m.Version, PreviousHealth: before, Expected: expectedShares(c)}
}

// RollBack takes the previous version into use again.
func (m Monitor) RollBack(previous Config) Monitor {
	return Monitor{Version: previous.Version, Expected: expectedShares(previous)}
}

// LearnFailed notes an attempt to learn that gave nothing better. A site without selectors is read
// well enough; it is left alone for longer.
func (m Monitor) LearnFailed() Monitor {
	m.SinceLearning = 0
	if m.Version == 0 {
		m.SinceLearning = -failedLearnDelay
	}
	return m
}

func expectedShares(c Config) map[article.Field]float64 {
	out := map[article.Field]float64{article.FieldBody: 1}
	for _, v := range c.Variants {
		for f := range v.Fields {
			if s, ok := v.Scores[f]; ok && s < 1 {
				out[f] = s
			} else {
				out[f] = 1
			}
		}
	}
	return out
}

// Health is, per field, the share of the last pages on which the selectors gave it, over the
// share that validation promised. 1 is as good as promised.
func (m Monitor) Health() map[article.Field]float64 {
	out := map[article.Field]float64{}
	for f, want := range m.Expected {
		found := 0
		for _, p := range m.Recent {
			if p[f] {
				found++
			}
		}
		if len(m.Recent) > 0 && want > 0 {
			out[f] = min(1, float64(found)/float64(len(m.Recent))/want)
		}
	}
	return out
}

// Decide says what should be done now.
func (m Monitor) Decide() Decision {
	if m.Version == 0 {
		if m.SinceLearning >= MinPages+1 {
			return Decision{Action: ActionLearn, Reason: "the site has no selectors yet"}
		}
		return Decision{Action: ActionNone}
	}
	if len(m.Recent) < minJudgedPages {
		return Decision{Action: ActionNone}
	}
	health := m.Health()
	if m.Previous > 0 && m.Pages <= 2*healthWindow {
		for _, f := range fieldOrder() {
			was, had := m.PreviousHealth[f]
			if is, ok := health[f]; had && (ok && is < was-maxHealthDrop || f == article.FieldBody && !ok) {
				return Decision{Action: ActionRollBack, Field: f, Reason: fmt.Sprintf(
					"version %d finds the %s on %.0f %% of pages, version %d before it found it on %.0f %%", m.Version, f, 100*is, m.Previous, 100*was)}
			}
		}
	}
	if m.SinceLearning < learnInterval && m.Pages > m.SinceLearning {
		return Decision{Action: ActionNone}
	}
	last := m.lastPages(minJudgedPages)
	for _, f := range fieldOrder() {
		h, ok := health[f]
		limit := minFieldHealth
		if f == article.FieldBody {
			limit = minBodyHealth
		}
		// The last few pages alone are enough where none of them has the field.
		if none := last[f] == 0 && f == article.FieldBody; ok && (h < limit && len(m.Recent) >= healthWindow || none) {
			return Decision{Action: ActionLearn, Field: f, Reason: fmt.Sprintf(
				"the selectors of version %d found the %s on %d of the last %d pages; the site may have changed its template", m.Version, f, m.count(f), len(m.Recent))}
		}
	}
	return Decision{Action: ActionNone}
}

// lastPages counts per field on how many of the last n pages it was found.
func (m Monitor) lastPages(n int) map[article.Field]int {
	out := map[article.Field]int{}
	for _, p := range m.Recent[max(0, len(m.Recent)-n):] {
		for f, ok := range p {
			if ok {
				out[f]++
			}
		}
	}
	return out
}

func (m Monitor) count(f article.Field) int { return m.lastPages(len(m.Recent))[f] }

// fieldOrder is the order in which the health of fields decides.
func fieldOrder() []article.Field {
	return []article.Field{article.FieldBody, article.FieldTitle, article.FieldPublished, article.FieldAuthors, article.FieldLead, article.FieldSection}
}
