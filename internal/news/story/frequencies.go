package story

import (
	_ "embed" // words.txt
	"math"
	"strings"
)

//go:embed words.txt
var functionWords string

// maxShare is the share of documents above which a term says nothing about an event.
const maxShare = .10

const (
	// priorDocuments are assumed before any is counted. Otherwise the words that the first
	// articles about an event share would seem frequent.
	priorDocuments = 200
	// priorShare is the assumed share of documents with a function word.
	priorShare = .3
)

// Frequencies are the numbers of documents that contain terms.
type Frequencies struct {
	Documents float64
	Terms     map[Term]float64

	prior map[Term]bool // function words
}

// NewFrequencies returns frequencies without documents.
func NewFrequencies(language string) *Frequencies {
	f := &Frequencies{Terms: map[Term]float64{}, prior: map[Term]bool{}}
	for line := range strings.Lines(functionWords) {
		if words, found := strings.CutPrefix(line, language+": "); found {
			for word := range strings.FieldsSeq(words) {
				f.prior[termOf(word)] = true
			}
		}
	}
	return f
}

// Add adds a document.
func (f *Frequencies) Add(c Counts) {
	f.Documents++
	for t := range c {
		f.Terms[t]++
	}
}

// rarity is the inverse document frequency of a term; 0: it is too frequent.
func (f *Frequencies) rarity(t Term) float64 {
	n, all := f.Terms[t], f.Documents+priorDocuments
	if f.prior[t] {
		n += priorShare * priorDocuments
	}
	if n > maxShare*all {
		return 0
	}
	return math.Log((all + 1) / (n + .5))
}
