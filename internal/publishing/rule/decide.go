package rule

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/optional"
	"dateline/internal/infra/words"
)

// Usage is what a rule has done before a decision.
type Usage struct {
	Hour         int        // posts of the last hour
	Day          int        // posts of the last 24 hours
	Matched      int        // articles of the last hour that were posted, or skipped because of a cap
	GroupArticle *uuid.UUID // article of the same group, or story, that has a post
	Round        int        // of an evergreen rule: of its next post about the article or its group
	LastPost     *time.Time // for an evergreen rule: when the workspace last posted about it, or will
	Views        int64      // that selected the article; 0: it is new
}

// Decide decides about an article that the rule selects. It depends on nothing but its
// arguments.
func Decide(r Rule, a Article, u Usage, at time.Time) Decision {
	d := Decision{
		RuleID: r.ID, WorkspaceID: r.WorkspaceID, ArticleID: a.ID, GroupID: a.GroupID,
		ArticleVersion: a.Version, Title: a.Title, URL: a.URL,
		Round: u.Round, Outcome: Skipped, DecidedAt: at,
	}
	d.Reason, d.Params = r.check(a, at)
	if d.Reason == Matched && u.Views > 0 {
		d.Params = Params{"views": u.Views}
	}
	limit := r.burstLimit()
	switch {
	case d.Reason != Matched:
	case r.Status == Paused:
		d.Reason = RulePaused
	case r.Trigger.Evergreen != nil && u.LastPost != nil && at.Sub(*u.LastPost) < days(r.Trigger.Evergreen.RepeatDays):
		d.Reason, d.Params = RecentlyPosted, Params{
			"posted_at": u.LastPost.UTC().Format(time.RFC3339), "limit": r.Trigger.Evergreen.RepeatDays,
		}
	case r.Trigger.Evergreen == nil && u.GroupArticle != nil:
		d.Reason, d.Params = DuplicateStory, Params{"article_id": *u.GroupArticle}
	case !r.Trigger.byViews() && u.Matched >= limit:
		d.Reason, d.Params, d.Pauses = TooMany, Params{"limit": limit}, PausedTooMany
	case u.Day >= r.MaxPerDay:
		d.Reason, d.Params = DailyCap, Params{"limit": r.MaxPerDay}
	case u.Hour >= r.MaxPerHour:
		d.Reason, d.Params = HourlyCap, Params{"limit": r.MaxPerHour}
	default:
		d.Outcome = Reserved
	}
	return d
}

// burstLimit is the number of articles in an hour that pauses a rule: more than news
// causes, such as a site that publishes its archive again.
func (r Rule) burstLimit() int { return max(minBurstLimit, burstFactor*r.MaxPerHour) }

// selects reports whether the trigger selects an article, apart from its saved search.
func (t Trigger) selects(a Article) bool {
	return oneOf(t.Domains, a.Domain) && oneOf(t.Sections, a.Section) && oneOf(t.Tags, a.Tags...) &&
		oneOf(t.Authors, a.Authors...)
}

// oneOf reports whether one of the values is wanted; an empty list wants all. Values are
// compared as words: publishers spell them in several ways.
func oneOf(wanted []string, values ...string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w string) bool {
		key := words.Key(w)
		return slices.ContainsFunc(values, func(v string) bool { return words.Key(v) == key })
	})
}

// check returns Matched, or the first condition that the article does not meet.
func (r Rule) check(a Article, at time.Time) (Reason, Params) {
	c := r.Conditions
	if a.IsWithdrawn {
		return Withdrawn, nil
	}
	if !oneOf(c.Languages, a.Language) {
		return WrongLanguage, Params{"language": a.Language}
	}
	if a.Words < c.MinWords {
		return TooShort, Params{"words": a.Words, "limit": c.MinWords}
	}
	if c.MaxAgeHours == 0 || r.Trigger.Evergreen != nil {
		return Matched, nil
	}
	if a.PublishedAt == nil {
		return NoDate, nil
	}
	published := *a.PublishedAt
	if a.DateOnly {
		published = published.Add(24 * time.Hour) // it may be of any time of the day
	}
	if age := at.Sub(published); age > time.Duration(c.MaxAgeHours)*time.Hour {
		return TooOld, Params{"hours": int(age / time.Hour), "limit": c.MaxAgeHours}
	}
	return Matched, nil
}

// RepeatableReasons lists the reasons of decisions that are made again when the article
// changes: a condition failed. Rules that select by readers also decide again what a cap
// or an earlier post prevented, while the article is being read.
func (r Rule) RepeatableReasons() []string {
	out := []string{string(WrongLanguage), string(TooShort), string(TooOld), string(NoDate), string(Withdrawn)}
	if r.Trigger.byViews() {
		out = append(out, string(HourlyCap), string(DailyCap), string(RulePaused), string(RecentlyPosted),
			string(NoNewText))
	}
	return out
}

// Repeats reports whether the rule makes a decision again. New wordings need a change of
// the rule.
func (r Rule) Repeats(d Decision) bool {
	return d.Outcome == Skipped && slices.Contains(r.RepeatableReasons(), string(d.Reason)) &&
		(d.Reason != NoNewText || r.UpdatedAt.After(d.DecidedAt))
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// history is what a rule did in a preview, from which it computes the usage as the
// database does.
type history struct {
	posted     []time.Time
	matched    []time.Time
	groups     map[uuid.UUID]uuid.UUID
	stories    map[uuid.UUID]uuid.UUID
	last       map[uuid.UUID]time.Time // of the post about a group
	postCounts map[uuid.UUID]int       // by group
}

func newHistory() *history {
	return &history{
		groups: map[uuid.UUID]uuid.UUID{}, stories: map[uuid.UUID]uuid.UUID{},
		last: map[uuid.UUID]time.Time{}, postCounts: map[uuid.UUID]int{},
	}
}

func (h *history) usage(r Rule, a Article, at time.Time) Usage {
	since := func(times []time.Time, ago time.Duration) (n int) {
		for _, t := range times {
			if t.After(at.Add(-ago)) {
				n++
			}
		}
		return n
	}
	u := Usage{
		Hour: since(h.posted, time.Hour), Day: since(h.posted, 24*time.Hour),
		Matched: since(h.matched, time.Hour),
	}
	if id, ok := h.groups[a.GroupID]; ok {
		u.GroupArticle = &id
	} else if id, ok := h.stories[optional.Value(a.StoryID)]; ok && r.Conditions.OncePerStory && a.StoryID != nil {
		u.GroupArticle = &id
	}
	return u
}

func (h *history) add(a Article, d Decision) {
	switch {
	case d.Outcome == Reserved:
		h.posted, h.matched = append(h.posted, d.DecidedAt), append(h.matched, d.DecidedAt)
		h.groups[d.GroupID], h.last[d.GroupID] = d.ArticleID, d.DecidedAt
		if a.StoryID != nil {
			h.stories[*a.StoryID] = d.ArticleID
		}
		h.postCounts[d.GroupID]++
	case d.Reason == HourlyCap || d.Reason == DailyCap:
		h.matched = append(h.matched, d.DecidedAt)
	}
	day := func(t time.Time) bool { return t.Before(d.DecidedAt.Add(-24 * time.Hour)) }
	h.posted, h.matched = slices.DeleteFunc(h.posted, day), slices.DeleteFunc(h.matched, day)
}
