package eval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"math/rand/v2"
	"slices"

	"dateline/internal/news/article/score"
)

// Sites are the results of an extractor by site. The names of sites are hashes, because sites of the
// held-out half are not examined.
type Sites map[string]*Metrics

func (s Sites) add(p score.Page, m Metrics) {
	sum := sha256.Sum256([]byte(p.Domain()))
	key := hex.EncodeToString(sum[:8])
	if s[key] == nil {
		s[key] = &Metrics{}
	}
	s[key].merge(m)
}

func (s Sites) merge(o Sites) {
	for key, m := range o {
		if s[key] == nil {
			s[key] = &Metrics{}
		}
		s[key].merge(*m)
	}
}

// Figures are the measures that Compare compares.
func Figures() []Figure {
	return []Figure{
		{"word F1", func(m *Metrics) *float64 { return m.Words.Value() }},
		{"strings", func(m *Metrics) *float64 {
			if m.Strings.Found+m.Strings.Missed == 0 {
				return nil
			}
			f := m.Strings.F1()
			return &f
		}},
		{"title", func(m *Metrics) *float64 { return m.Title.Value() }},
		{"authors", func(m *Metrics) *float64 { return m.Author.Value() }},
		{"date", func(m *Metrics) *float64 { return m.Date.Value() }},
		{"minute", func(m *Metrics) *float64 { return m.Minute.Value() }},
	}
}

// Figure is a measure of pages.
type Figure struct {
	Name  string
	value func(m *Metrics) *float64
}

// Difference is how much more one extractor reaches than another, with an interval that contains the
// true difference with a probability of 95 %.
type Difference struct{ By, Low, High float64 }

// resamples is the number of samples of the sites.
const resamples = 2000

// Compare compares a figure of two extractors on the same pages. The interval is that of a paired
// bootstrap over sites, because pages of a site have the same errors. ok is false if no page is annotated.
func (f Figure) Compare(own, other Sites) (d Difference, ok bool) {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(own)), func(key string) bool {
		return other[key] == nil || f.value(own[key]) == nil
	})
	if len(keys) == 0 {
		return d, false
	}
	difference := func(pick func(i int) string) float64 {
		var a, b Metrics
		for i := range keys {
			key := pick(i)
			a.merge(*own[key])
			b.merge(*other[key])
		}
		return *f.value(&a) - *f.value(&b)
	}
	d.By = difference(func(i int) string { return keys[i] })
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same samples in each run
	all := make([]float64, resamples)
	for i := range all {
		all[i] = difference(func(int) string { return keys[random.IntN(len(keys))] })
	}
	slices.SortFunc(all, cmp.Compare[float64])
	d.Low, d.High = all[resamples/40], all[resamples-1-resamples/40]
	return d, true
}
