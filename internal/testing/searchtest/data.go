package searchtest

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/search"
)

//go:embed articles.txt
var articles string //nolint:gochecknoglobals // embedded

//go:embed queries.txt
var queries string //nolint:gochecknoglobals // embedded

//go:embed queries_heldout.txt
var heldOutQueries string //nolint:gochecknoglobals // embedded

// Now is the time at which the suite runs its searches.
func Now() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }

// ID returns the id of an invented article.
func ID(key string) uuid.UUID { return uuid.NewSHA1(uuid.NameSpaceOID, []byte(key)) }

// Articles returns the articles of the relevance set, by key.
func Articles() (map[string]search.Document, error) {
	out := map[string]search.Document{}
	for line := range lines(articles) {
		f := strings.Split(line, "|")
		if len(f) != 10 {
			return nil, fmt.Errorf("%d fields in %q", len(f), line)
		}
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		days, err := strconv.Atoi(f[6])
		if err != nil {
			return nil, err
		}
		d := search.Document{
			ID: ID(f[0]), Version: 1, URL: "https://" + f[2] + "/" + f[0], Language: f[1],
			Domain: f[2], Section: f[3], Tags: strings.Split(f[4], ", "),
			Authors: []string{f[5]}, Published: Now().Add(-time.Duration(days) * 24 * time.Hour), Title: f[7],
			Lead: f[8], Body: f[9], Group: ID(f[0]),
		}
		out[f[0]] = d
	}
	return out, nil
}

func lines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "#") && !yield(line) {
				return
			}
		}
	}
}

// Judged is a query with the relevance of its results.
type Judged struct {
	Query    string
	Question bool // a full sentence
	HeldOut  bool // never used to tune rules
	Grades   map[uuid.UUID]int
}

// Queries returns those of the relevance set.
func Queries() ([]Judged, error) {
	var out []Judged
	for _, file := range []struct {
		text    string
		heldOut bool
	}{{queries, false}, {heldOutQueries, true}} {
		for line := range lines(file.text) {
			query, grades, ok := strings.Cut(line, "=>")
			if !ok {
				return nil, fmt.Errorf("no judgment in %q", line)
			}
			query, isQuestion := strings.CutPrefix(strings.TrimSpace(query), "? ")
			j := Judged{Query: query, Question: isQuestion, HeldOut: file.heldOut, Grades: map[uuid.UUID]int{}}
			for one := range strings.FieldsSeq(grades) {
				key, grade, _ := strings.Cut(one, ":")
				n, err := strconv.Atoi(grade)
				if err != nil {
					return nil, fmt.Errorf("%q: %w", line, err)
				}
				j.Grades[ID(key)] = n
			}
			out = append(out, j)
		}
	}
	return out, nil
}

// Noise generates articles without a topic: they contain the words of the relevance
// set's bodies in random order, so that matching words alone does not suffice.
func Noise(n int) ([]search.Document, error) {
	all, err := Articles()
	if err != nil {
		return nil, err
	}
	words := map[string][]string{}
	for line := range lines(articles) { // in the file's order
		d := all[strings.TrimSpace(line[:strings.Index(line, "|")])]
		words[d.Language] = append(words[d.Language], strings.Fields(d.Title+" "+d.Lead+" "+d.Body)...)
	}
	r := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // the same articles every time
	out := make([]search.Document, n)
	for i := range out {
		language := []string{"vi", "en"}[i%2]
		text := func(n int) string {
			parts := make([]string, n)
			for j := range parts {
				parts[j] = strings.ToLower(strings.Trim(words[language][r.IntN(len(words[language]))], ".,:?"))
			}
			return strings.Join(parts, " ")
		}
		key := "noise-" + strconv.Itoa(i)
		out[i] = search.Document{
			ID: ID(key), Version: 1, URL: "https://noise.example/" + key, Domain: "noise.example",
			Language: language, Section: "Noise",
			Published: Now().Add(-time.Duration(r.IntN(60*24)) * time.Hour), Title: "Noise " + strconv.Itoa(i),
			Lead: text(12), Body: text(120), Group: ID(key),
		}
	}
	return out, nil
}
