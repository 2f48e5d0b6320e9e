// Package storytest generates datasets of invented news for tests and benchmarks of
// stories. Texts are filled templates, so they are easier to group than real news; the two
// halves have different kinds of events.
package storytest

import (
	_ "embed" // the templates
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/internal/news/story/eval"
)

//go:embed en.txt
var english string

//go:embed vi.txt
var vietnamese string

// Options configure a dataset.
type Options struct {
	Language string // en or vi
	Seed     uint64
	Events   int // stories; a third has one article only
	Start    time.Time
	Duration time.Duration
}

type kind struct {
	name   string
	half   eval.Half
	titles []string
	facts  [][]string
}

type language struct {
	lists   map[string][]string
	kinds   []kind
	details [][]string // of any event
}

// eventDetails is the number of details of an event.
const eventDetails = 5

// Generate returns a dataset in the order of time. It depends on nothing but its options.
func Generate(o Options) []eval.Article {
	l := parse(o.Language)
	r := rand.New(rand.NewPCG(o.Seed, o.Seed)) //nolint:gosec // reproducible, not secret
	var out []eval.Article
	for e := range o.Events {
		k := l.kinds[e%len(l.kinds)]
		slots := l.fill(r)
		details := l.pickDetails(r)
		at := o.Start.Add(time.Duration(r.Int64N(int64(o.Duration))))
		count := 1
		if r.IntN(3) > 0 {
			count = 2 + r.IntN(7)
		}
		for i := range count {
			a := eval.Article{
				ID: fmt.Sprintf("%s-%d-%d", o.Language, e, i), Story: fmt.Sprintf("%s-%d", k.name, e),
				Language: o.Language, Half: k.half,
				PublishedAt: at.Add(time.Duration(r.IntN(24*60)) * time.Minute * time.Duration(min(i, 1))).
					Truncate(time.Second),
			}
			a.Title = slots.Replace(k.titles[r.IntN(len(k.titles))])
			a.Body = slots.Replace(k.body(r)) + "\n\n" + details.some(r)
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b eval.Article) int { return a.PublishedAt.Compare(b.PublishedAt) })
	return out
}

// detailed are the details of an event.
type detailed [][]string

func (l language) pickDetails(r *rand.Rand) (out detailed) {
	for _, i := range r.Perm(len(l.details))[:eventDetails] {
		names := l.fill(r)
		var wordings []string
		for _, w := range l.details[i] {
			wordings = append(wordings, names.Replace(w))
		}
		out = append(out, wordings)
	}
	return out
}

// some returns most of the details, each in one of its wordings.
func (d detailed) some(r *rand.Rand) string {
	var out []string
	for _, i := range r.Perm(len(d))[:len(d)-r.IntN(3)] {
		out = append(out, d[i][r.IntN(len(d[i]))])
	}
	return strings.Join(out, "\n\n")
}

// body returns the first fact and some of the others, each in one of its wordings.
func (k kind) body(r *rand.Rand) string {
	facts := []string{k.facts[0][r.IntN(len(k.facts[0]))]}
	for _, i := range r.Perm(len(k.facts) - 1)[:3+r.IntN(len(k.facts)-3)] {
		wordings := k.facts[i+1]
		facts = append(facts, wordings[r.IntN(len(wordings))])
	}
	return strings.Join(facts, "\n\n")
}

// fill chooses the names and numbers of an event.
func (l language) fill(r *rand.Rand) *strings.Replacer {
	var pairs []string
	add := func(slot, value string) { pairs = append(pairs, "{"+slot+"}", value) }
	two := func(list []string) (string, string) {
		i := r.Perm(len(list))
		return list[i[0]], list[i[1]]
	}
	var place, other string
	place, other = l.name("place", r), l.name("place", r)
	add("place", place)
	add("place2", other)
	team, opponent := two(l.lists["team"])
	add("team", team)
	add("team2", opponent)
	for i := range 3 {
		name := l.name("person", r)
		add("person"+strconv.Itoa(i+1), name)
		words := strings.Fields(name)
		add("person"+strconv.Itoa(i+1)+"w", words[len(words)-1])
	}
	add("org", l.name("org", r))
	add("object", l.lists["object"][r.IntN(len(l.lists["object"]))])
	for i := range 5 {
		add("n"+strconv.Itoa(i+1), strconv.Itoa(2+r.IntN(40)))
	}
	add("dperson", l.name("person", r))
	add("dplace", l.name("place", r))
	add("dorg", l.name("org", r))
	add("dn", strconv.Itoa(2+r.IntN(90)))
	day := strconv.Itoa(1 + r.IntN(28))
	add("day", map[bool]string{true: day + "/11", false: "November " + day}[len(l.lists["vietnamese"]) > 0])
	return strings.NewReplacer(pairs...)
}

// name invents a name, because different events rarely share one: in Vietnamese from the
// syllables of two names of a list, in English from the start of one and invented syllables.
func (l language) name(list string, r *rand.Rand) string {
	pick := func() []string { return strings.Fields(l.lists[list][r.IntN(len(l.lists[list]))]) }
	one, other := pick(), pick()
	if len(l.lists["vietnamese"]) > 0 {
		return strings.Join(append(slices.Clone(one[:len(one)-1]), other[len(other)-1]), " ")
	}
	var syllables strings.Builder
	for range 2 + r.IntN(2) {
		_ = syllables.WriteByte("bdfgklmnprstvz"[r.IntN(14)])
		_ = syllables.WriteByte("aeiou"[r.IntN(5)])
		syllables.WriteString([]string{"", "n", "r", "l", "s"}[r.IntN(5)])
	}
	word := syllables.String()
	word = strings.ToUpper(word[:1]) + word[1:]
	if list == "person" {
		return one[0] + " " + word
	}
	return strings.Join(append([]string{word}, other[1:]...), " ")
}

func parse(name string) language {
	l, templates := language{lists: map[string][]string{}}, english
	if name == "vi" {
		l.lists["vietnamese"], templates = []string{name}, vietnamese
	}
	isDetail := false
	for line := range strings.Lines(templates) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "@"):
			list, values, _ := strings.Cut(line[1:], " ")
			l.lists[list] = strings.Split(values, ", ")
		case line == "== details":
			isDetail = true
		case isDetail:
			l.details = append(l.details, strings.Split(line, " | "))
		case strings.HasPrefix(line, "== "):
			words := strings.Fields(line)
			l.kinds = append(l.kinds, kind{name: words[1], half: eval.Half(words[2])})
		case strings.HasPrefix(line, "title: "):
			l.kinds[len(l.kinds)-1].titles = strings.Split(line[len("title: "):], " | ")
		default:
			k := &l.kinds[len(l.kinds)-1]
			k.facts = append(k.facts, strings.Split(line, " | "))
		}
	}
	return l
}
