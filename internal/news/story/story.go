// Package story groups articles that report the same event. A story is not a group of
// near-duplicates (articles.group_id), which have the same text: such a group counts as
// one document of a story, so that a text that many sites take from an agency does not
// outweigh the others.
//
// Articles are placed one after the other, in the order in which they were stored: an
// article joins the most similar story of the same language that is near in time, or
// starts a new one. Index is the algorithm and does no I/O. Placer applies it to the
// stored stories, Maintainer merges and splits them later, and Editor applies what editors
// decide.
package story

import (
	"time"

	"github.com/google/uuid"
)

// Settings are the thresholds of a language.
type Settings struct {
	Threshold float64       // similarity from which an article joins a story
	Window    time.Duration // between an article and the nearest one of the story
}

// DefaultThreshold is the similarity from which an article joins a story, and
// vietnameseThreshold that of Vietnamese, whose syllables are more frequent than words. They
// were chosen on one half of the test sets: see docs/explanation/stories.md.
const (
	DefaultThreshold    = .27
	vietnameseThreshold = .30
)

const (
	// DefaultWindow is the time between an article and the nearest one of its story.
	DefaultWindow = 72 * time.Hour
	// decay is the time after which similarity counts markedly less.
	decay = 48 * time.Hour
	// followUpWindow is how long after its last article a story can have a follow-up.
	followUpWindow = 30 * 24 * time.Hour
	// followUpThreshold is the similarity of a follow-up with the earlier story.
	followUpThreshold = .20
	// mergeThreshold is the similarity from which stories are merged. At .40, different
	// events of one kind were merged.
	mergeThreshold = .55
	// A story with at least so many documents is split if documents whose similarity is
	// below splitBelow form a group whose similarity is at least splitGroup.
	minSplitDocuments = 16
	splitBelow        = .20
	splitGroup        = .30
	// fallenFactor is the share of its similarity below which a changed article is placed again.
	fallenFactor = .5
)

// Thresholds are the thresholds by language (ISO 639-1). Others have the default.
type Thresholds map[string]float64

// Settings returns the settings of a language.
func (t Thresholds) Settings(language string) Settings {
	s := Settings{Threshold: DefaultThreshold, Window: DefaultWindow}
	if language == "vi" {
		s.Threshold = vietnameseThreshold
	}
	if v, ok := t[language]; ok {
		s.Threshold = v
	}
	return s
}

// Cluster is a story as the algorithm sees it.
type Cluster struct {
	ID        uuid.UUID
	Centroid  Vector // sum of the vectors of its documents
	Documents int
	FirstAt   time.Time // of its earliest and latest article, by the stated time
	LastAt    time.Time
}

// Add adds a document.
func (c *Cluster) Add(v Vector, at time.Time) {
	c.Centroid = c.Centroid.plus(v, 1)
	c.Documents++
	c.extend(at)
}

// extend extends the time of the story.
func (c *Cluster) extend(at time.Time) {
	if c.FirstAt.IsZero() || at.Before(c.FirstAt) {
		c.FirstAt = at
	}
	if at.After(c.LastAt) {
		c.LastAt = at
	}
}

// Merge adds the documents of another cluster.
func (c *Cluster) Merge(o Cluster) {
	c.Centroid = c.Centroid.plus(o.Centroid, 1)
	c.Documents += o.Documents
	c.extend(o.FirstAt)
	c.extend(o.LastAt)
}

// gap is the time between an instant and the story, 0 during it.
func (c *Cluster) gap(at time.Time) time.Duration {
	return max(at.Sub(c.LastAt), c.FirstAt.Sub(at), 0)
}
