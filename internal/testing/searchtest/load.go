package searchtest

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"dateline/internal/news/search"
)

// Load generates articles for benchmarks: about 250 words each, from a vocabulary with
// a Zipf distribution as in natural languages. Words consist of syllables, some with
// Vietnamese diacritics.
type Load struct {
	seed  uint64
	words []string
}

// vocabulary is the number of words.
const vocabulary = 60_000

// NewLoad generates the same articles for one seed.
func NewLoad(seed uint64) *Load {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same every time
	l := &Load{seed: seed}
	onsets := []string{
		"b", "c", "ch", "d", "đ", "gi", "h", "kh", "l", "m", "n", "ng", "nh", "ph", "qu", "s", "t", "th",
		"tr", "v", "x", "st", "pr", "fl", "gr",
	}
	tails := []string{
		"a", "á", "à", "ã", "ạ", "an", "anh", "ăng", "ấp", "ật", "ay", "e", "en", "ê", "ệt", "i", "inh",
		"o", "ong", "ô", "ồng", "ơ", "ời", "u", "ư", "ươn", "ường", "yên", "er", "ing", "ons",
	}
	for len(l.words) < vocabulary {
		i := len(l.words)
		w := onsets[i%len(onsets)] + tails[i/len(onsets)%len(tails)]
		if n := i / (len(onsets) * len(tails)); n > 0 {
			w += onsets[n%len(onsets)] + tails[n/len(onsets)%len(tails)]
		}
		if n := i / (len(onsets) * len(tails) * len(onsets) * 2); n > 0 {
			w += onsets[n%len(onsets)]
		}
		l.words = append(l.words, w)
	}
	r.Shuffle(len(l.words), func(i, j int) { l.words[i], l.words[j] = l.words[j], l.words[i] })
	return l
}

// Word returns the word of a rank: 0 is the most frequent.
func (l *Load) Word(rank int) string { return l.words[rank] }

// Article generates article number i, independent of other calls; higher numbers are
// newer.
func (l *Load) Article(i, of int) search.Document {
	r := rand.New(rand.NewPCG(l.seed, uint64(i)+2)) //nolint:gosec // the same every time
	zipf := rand.NewZipf(r, 1.07, 12, vocabulary-1)
	text := func(n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(l.words[zipf.Uint64()])
		}
		return b.String()
	}
	key := "load-" + strconv.Itoa(i)
	domain := "site-" + strconv.Itoa(r.IntN(50)) + ".example"
	return search.Document{
		ID: ID(key), Version: 1, URL: "https://" + domain + "/" + key, Domain: domain,
		Language: []string{"vi", "en"}[i%2],
		Section:  "Section " + strconv.Itoa(r.IntN(12)), Tags: []string{text(1), text(1)}, Authors: []string{
			"Author " + strconv.Itoa(r.IntN(500)),
		},
		Published: Now().Add(-time.Duration(of-i) * 5 * time.Minute), Title: text(9), Lead: text(24),
		Body: text(150 + r.IntN(200)), Group: ID(key),
	}
}
