package rule

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/timezone"
)

// Limits of rules.
const (
	MaxRules         = 100 // of a workspace
	maxName          = 80
	maxTemplate      = 5000
	maxValues        = 50
	maxValueLength   = 200
	maxHashtagKeys   = 200
	maxAccounts      = 50
	maxPerHour       = 100
	maxPerDay        = 1000
	maxAgeHours      = 7 * 24
	maxDelay         = 7 * 24 * 60 // minutes
	maxViews         = 1_000_000_000
	maxTrendingHours = 48
	maxViewDays      = 30
	maxRepeatDays    = 3650
	minApprovalDelay = 15 // minutes
)

// problems collects the invalid fields of a rule.
type problems []apperr.FieldError

func (p *problems) add(field, code, format string, args ...any) {
	*p = append(*p, apperr.FieldError{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

// normalize trims texts and sets defaults.
func (r *Rule) normalize() {
	r.Name = strings.TrimSpace(r.Name)
	for _, list := range []*[]string{
		&r.Trigger.Domains, &r.Trigger.Sections, &r.Trigger.Tags, &r.Trigger.Authors,
		&r.Conditions.Languages,
	} {
		*list = trimmed(*list)
	}
	hashtags := map[string]string{}
	for key, tags := range r.Hashtags {
		hashtags[strings.TrimSpace(key)] = strings.Join(strings.Fields(tags), " ")
	}
	r.Hashtags = hashtags
	for network, texts := range r.Variants {
		texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return strings.TrimSpace(text) == "" })
		if r.Variants[network] = texts; len(texts) == 0 {
			delete(r.Variants, network)
		}
	}
	if r.Image == "" {
		r.Image = NoImage
	}
	if r.Mode == "" {
		r.Mode = CreateDraft
	}
	if r.Timing.When == "" {
		r.Timing.When = Immediately
	}
	if r.UTM != nil && *r.UTM == (UTM{}) {
		r.UTM = nil
	}
}

func trimmed(list []string) (out []string) {
	for _, value := range list {
		if value = strings.TrimSpace(value); value != "" && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}

// validate names every invalid field. It looks nothing up.
func (r Rule) validate() problems {
	var p problems
	if n := utf8.RuneCountInString(r.Name); n == 0 || n > maxName || !isStorable(r.Name) {
		p.add("name", "invalid", "A name has 1 to %d characters.", maxName)
	}
	for field, list := range map[string][]string{
		"trigger.domains":  r.Trigger.Domains,
		"trigger.sections": r.Trigger.Sections, "trigger.tags": r.Trigger.Tags,
		"trigger.authors": r.Trigger.Authors, "conditions.languages": r.Conditions.Languages,
	} {
		if len(list) > maxValues ||
			slices.ContainsFunc(list, func(v string) bool { return len(v) > maxValueLength || !isStorable(v) }) {
			p.add(field, "invalid", "Use at most %d values.", maxValues)
		}
	}
	if r.Conditions.MinWords < 0 || r.Conditions.MinWords > 100_000 {
		p.add("conditions.min_words", "invalid", "Name a number of words from 0 to 100000.")
	}
	if r.Conditions.MaxAgeHours < 1 || r.Conditions.MaxAgeHours > maxAgeHours {
		p.add("conditions.max_age_hours", "invalid", "Name a number of hours from 1 to %d.", maxAgeHours)
	}
	if r.MaxPerHour < 1 || r.MaxPerHour > maxPerHour {
		p.add("max_per_hour", "invalid", "Name a number of posts from 1 to %d.", maxPerHour)
	}
	if r.MaxPerDay < 1 || r.MaxPerDay > maxPerDay {
		p.add("max_per_day", "invalid", "Name a number of posts from 1 to %d.", maxPerDay)
	}
	if !slices.Contains([]Image{NoImage, ArticleImage}, r.Image) {
		p.add("image", "invalid", `An image is "none" or "article".`)
	}
	if !slices.Contains([]Mode{CreateDraft, NeedsApproval, Automatic}, r.Mode) {
		p.add("mode", "invalid", `A mode is "draft", "approval" or "automatic".`)
	}
	if (len(r.AccountIDs) == 0) == (r.GroupID == nil) {
		p.add("account_ids", "required", "Name either accounts or a group.")
	}
	if len(r.AccountIDs) > maxAccounts {
		p.add("account_ids", "too_many", "A rule posts on at most %d accounts.", maxAccounts)
	}
	r.validateTexts(&p)
	r.validateViews(&p)
	r.validateTiming(&p)
	slices.SortFunc(p, func(a, b apperr.FieldError) int { return strings.Compare(a.Field, b.Field) })
	return p
}

func (r Rule) validateTexts(p *problems) {
	if _, ok := r.Templates[DefaultTemplate]; !ok {
		p.add("templates.default", "required", "A rule needs a template for networks without their own.")
	}
	for _, network := range slices.Sorted(maps.Keys(r.Templates)) {
		if len(network) > maxValueLength {
			p.add("templates."+network, "invalid", "A template has at most %d characters.", maxTemplate)
			continue
		}
		validateTemplate(p, "templates."+network, r.Templates[network])
	}
	for _, network := range slices.Sorted(maps.Keys(r.Variants)) {
		if _, ok := r.Templates[network]; !ok {
			p.add("variants."+network, "required", "Write the template of these variants first.")
		}
		if len(r.Variants[network]) > maxVariants {
			p.add("variants."+network, "too_many", "A template has at most %d variants.", maxVariants)
		}
		for i, text := range r.Variants[network] {
			validateTemplate(p, fmt.Sprintf("variants.%s[%d]", network, i), text)
		}
	}
	if len(r.Hashtags) > maxHashtagKeys {
		p.add("hashtags", "too_many", "Map at most %d sections and tags.", maxHashtagKeys)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Hashtags)) {
		tags := strings.Fields(r.Hashtags[key])
		if key == "" || len(key) > maxValueLength || !isStorable(key) || len(tags) == 0 ||
			slices.ContainsFunc(tags, func(tag string) bool {
				return len(tag) < 2 || len(tag) > maxValueLength || tag[0] != '#' || !isStorable(tag)
			}) {
			p.add("hashtags."+key, "invalid", "Write hashtags with # before each, separated by spaces.")
		}
	}
	if r.UTM != nil {
		for field, value := range map[string]string{
			"utm.source": r.UTM.Source, "utm.medium": r.UTM.Medium,
			"utm.campaign": r.UTM.Campaign,
		} {
			if len(value) > maxValueLength || !isStorable(value) {
				p.add(field, "invalid", "A campaign parameter has at most %d characters.", maxValueLength)
			}
		}
	}
}

func validateTemplate(p *problems, field, text string) {
	known, found := Placeholders(), placeholder().FindAllString(text, -1)
	at := slices.IndexFunc(found, func(name string) bool { return !slices.Contains(known, name) })
	switch {
	case utf8.RuneCountInString(text) > maxTemplate || !isStorable(text):
		p.add(field, "invalid", "A template has at most %d characters.", maxTemplate)
	case at >= 0:
		p.add(field, "unknown_placeholder", "There is no placeholder %s. Use %s.", found[at], strings.Join(known, ", "))
	case !slices.ContainsFunc(found, func(name string) bool {
		return name == "{title}" || name == "{lead}" ||
			name == "{url}"
	}):
		p.add(field, "required", "A template needs {title}, {lead} or {url}: otherwise all posts are the same.")
	}
}

// validateViews checks the triggers that count readers.
func (r Rule) validateViews(p *problems) {
	inRange := func(field string, n, limit int) {
		if n < 1 || n > limit {
			p.add(field, "invalid", "Enter a number from %d to %d.", 1, limit)
		}
	}
	t, e := r.Trigger.Trending, r.Trigger.Evergreen
	if t != nil && e != nil {
		p.add("trigger.evergreen", "conflict",
			"A rule posts either what is trending or what is evergreen. Create two rules.")
	}
	if t != nil {
		inRange("trigger.trending.min_views", t.MinViews, maxViews)
		inRange("trigger.trending.hours", t.Hours, maxTrendingHours)
	}
	if e != nil {
		inRange("trigger.evergreen.min_views", e.MinViews, maxViews)
		inRange("trigger.evergreen.days", e.Days, maxViewDays)
		inRange("trigger.evergreen.min_age_days", e.MinAgeDays, maxRepeatDays)
		inRange("trigger.evergreen.repeat_days", e.RepeatDays, maxRepeatDays)
	}
}

func (r Rule) validateTiming(p *problems) {
	t := r.Timing
	switch {
	case !slices.Contains([]When{Immediately, Delayed, NextFree}, t.When):
		p.add("timing.when", "invalid", `A timing is "now", "delay" or "next_free".`)
	case t.When == Delayed && (t.DelayMinutes < 1 || t.DelayMinutes > maxDelay):
		p.add("timing.delay_minutes", "invalid", "Name a number of minutes from 1 to %d.", maxDelay)
	case r.Mode == NeedsApproval && (t.When == Immediately || t.When == Delayed && t.DelayMinutes < minApprovalDelay):
		p.add("timing.when", "no_time_to_approve",
			"Posts that need approval need time for it: use the next free slot, or a delay of at least %d minutes.",
			minApprovalDelay)
	case t.When == NextFree && t.Hours != nil:
		p.add("timing.hours", "conflict", "The slots of a queue have their own hours. Omit hours.")
	case t.When == NextFree && r.GroupID == nil:
		p.add("group_id", "required", "Only a group has slots. Name a group.")
	}
	if t.Hours == nil {
		return
	}
	from, to, err := t.Hours.clocks()
	if err != nil {
		p.add("timing.hours.from", "invalid", "%s.", err)
	} else if from >= to {
		p.add("timing.hours.to", "invalid", "The hours must end after they begin; 24:00 is the end of the day.")
	}
	if slices.ContainsFunc(t.Hours.Weekdays, func(n int) bool { return n < 1 || n > 7 }) {
		p.add("timing.hours.weekdays", "invalid", "A weekday is 1 (Monday) to 7 (Sunday).")
	}
	if _, err := timezone.Load(t.Hours.TimeZone); err != nil {
		p.add("timing.hours.time_zone", "unknown", "%s.", err)
	}
}

func isStorable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
