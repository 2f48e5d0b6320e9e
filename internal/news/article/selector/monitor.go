package selector

import (
	"math"

	"dateline/internal/infra/message"
	"dateline/internal/news/article"
)

// Action is an action on the selectors of a site.
type Action string

// Actions.
const (
	ActionNone     Action = "none"
	ActionLearn    Action = "learn"     // there are no selectors, or they no longer work
	ActionRollBack Action = "roll_back" // the active version is worse than the previous one
)

// Decision is an action and its reason.
type Decision struct {
	Action Action
	Field  article.Field // whose health caused the action
	Reason message.Message
}

const (
	// healthWindow is the number of recent pages that health is computed from.
	healthWindow = 10
	// minJudgedPages is the number of pages before a version is judged.
	minJudgedPages = 5
	// minBodyHealth and minFieldHealth are the health below which selectors are
	// relearned.
	minBodyHealth  = 0.6
	minFieldHealth = 0.4
	// maxHealthDrop is how much worse a new version may be than the previous one.
	maxHealthDrop = 0.15
	// learnInterval is the number of pages between attempts to learn.
	learnInterval = 10
	// failedLearnDelay is the number of additional pages after a failed attempt on a
	// site without selectors.
	failedLearnDelay = 45
)

// Monitor tracks the health of the selectors of one site. It is a plain value that is
// stored between pages; its decisions depend on nothing else.
type Monitor struct {
	Version  int `json:"version"`            // active; 0: none
	Previous int `json:"previous,omitempty"` // target of a rollback; 0: none
	// Validation scores of the active version
	Expected map[article.Field]float64 `json:"expected,omitempty"`
	// Health of the previous version when it was replaced
	PreviousHealth map[article.Field]float64 `json:"previous_health,omitempty"`
	Recent         []map[article.Field]bool  `json:"recent,omitempty"` // results of recent pages, oldest first
	Pages          int                       `json:"pages"`            // processed since activation
	SinceLearning  int                       `json:"since_learning"`   // pages since the last attempt to learn
}

// Record records the result of a page.
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

// Activate replaces the active version.
func (m Monitor) Activate(c Config) Monitor {
	before := m.Health()
	if m.Pages == 0 {
		before = nil
	}
	return Monitor{Version: c.Version, Previous: m.Version, PreviousHealth: before, Expected: expectedShares(c)}
}

// RollBack activates the previous version again.
func (m Monitor) RollBack(previous Config) Monitor {
	return Monitor{Version: previous.Version, Expected: expectedShares(previous)}
}

// LearnFailed records a failed attempt to learn. A site without selectors works well
// enough with generic extraction, so the next attempt is later.
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

// Health returns, for each field, the share of recent pages on which selectors found it,
// relative to the validation score. 1 is as good as expected.
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

// Decide returns the action that should be done now.
func (m Monitor) Decide() Decision {
	if m.Version == 0 {
		if m.SinceLearning >= MinPages+1 {
			return Decision{
				Action: ActionLearn, Reason: message.New("no_selectors_yet", "The site has no selectors yet."),
			}
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
				return Decision{Action: ActionRollBack, Field: f, Reason: message.New("worse_than_previous",
					"Version {version} finds the {field} on {percent}% of pages, the previous version {previous} "+
						"found it on {previous_percent}%.", m.Version, f, percent(is), m.Previous, percent(was))}
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
		// If none of the last few pages has a body, fewer pages are enough.
		if none := last[f] == 0 && f == article.FieldBody; ok && (h < limit && len(m.Recent) >= healthWindow || none) {
			return Decision{Action: ActionLearn, Field: f, Reason: message.New("selectors_failing",
				"The selectors of version {version} found the {field} on {found} of the last {pages|page|pages}. The "+
					"site may have changed its template.", m.Version, f, m.count(f), len(m.Recent))}
		}
	}
	return Decision{Action: ActionNone}
}

func percent(share float64) int { return int(math.Round(100 * share)) }

// lastPages counts on how many of the last n pages each field was found.
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

// fieldOrder returns the fields in the order in which their health is checked.
func fieldOrder() []article.Field {
	return []article.Field{
		article.FieldBody, article.FieldTitle, article.FieldPublished, article.FieldAuthors,
		article.FieldLead, article.FieldSection,
	}
}
