package story

import (
	"bytes"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
)

// minShared is the number of its heaviest terms that an article shares with a story it may
// join. A single common term says little, and reading all stories that have it is what
// placing an article costs.
const minShared = 2

// sharedTerms returns the number of common terms that candidates need: a vector with fewer
// terms cannot share more.
func sharedTerms(heavy []Term) int { return min(minShared, len(heavy)) }

// Index finds the story of an article among clusters of one language. Candidates are the
// clusters that share minShared of the heaviest terms with it.
type Index struct {
	settings Settings
	clusters map[uuid.UUID]*Cluster
	terms    map[uuid.UUID][]Term
	postings map[Term][]*Cluster
}

// NewIndex returns an index of clusters.
func NewIndex(s Settings, clusters []*Cluster) *Index {
	x := &Index{
		settings: s, clusters: map[uuid.UUID]*Cluster{}, terms: map[uuid.UUID][]Term{},
		postings: map[Term][]*Cluster{},
	}
	for _, c := range clusters {
		x.Put(c)
	}
	return x
}

// Put adds a cluster, or updates its terms after a change.
func (x *Index) Put(c *Cluster) {
	heavy := c.Centroid.Heavy()
	for _, t := range x.terms[c.ID] {
		if !slices.Contains(heavy, t) {
			x.unpost(t, c.ID)
		}
	}
	for _, t := range heavy {
		if !slices.Contains(x.terms[c.ID], t) {
			x.postings[t] = append(x.postings[t], c)
		}
	}
	x.clusters[c.ID], x.terms[c.ID] = c, heavy
}

// Delete deletes a cluster.
func (x *Index) Delete(id uuid.UUID) {
	for _, t := range x.terms[id] {
		x.unpost(t, id)
	}
	delete(x.clusters, id)
	delete(x.terms, id)
}

// Get returns a cluster, or nil.
func (x *Index) Get(id uuid.UUID) *Cluster { return x.clusters[id] }

func (x *Index) unpost(t Term, id uuid.UUID) {
	x.postings[t] = slices.DeleteFunc(x.postings[t], func(c *Cluster) bool { return c.ID == id })
	if len(x.postings[t]) == 0 {
		delete(x.postings, t)
	}
}

// candidates returns the clusters that share enough heavy terms with a vector.
func (x *Index) candidates(v Vector) []*Cluster {
	heavy, shared, out := v.Heavy(), map[uuid.UUID]int{}, []*Cluster(nil)
	for _, t := range heavy {
		for _, c := range x.postings[t] {
			if shared[c.ID]++; shared[c.ID] == sharedTerms(heavy) {
				out = append(out, x.clusters[c.ID])
			}
		}
	}
	return out
}

// Nearest returns the most similar cluster that an article may join, and its similarity;
// nil: the article starts a story.
func (x *Index) Nearest(v Vector, at time.Time) (best *Cluster, similarity float64) {
	return x.best(v, func(c *Cluster) float64 {
		gap := c.gap(at)
		if gap > x.settings.Window {
			return 0
		}
		if s := Similarity(v, c.Centroid) * math.Exp(-square(gap.Hours()/decay.Hours())/2); s >= x.settings.Threshold {
			return s
		}
		return 0
	})
}

// Followed returns the story that an article follows up: a similar one that ended before
// the window.
func (x *Index) Followed(v Vector, at time.Time) (best *Cluster, similarity float64) {
	return x.best(v, func(c *Cluster) float64 {
		if gap := at.Sub(c.LastAt); gap <= x.settings.Window || gap > followUpWindow {
			return 0
		}
		if s := Similarity(v, c.Centroid); s >= followUpThreshold {
			return s
		}
		return 0
	})
}

// best returns the candidate with the highest score above 0; ties go to the oldest id.
func (x *Index) best(v Vector, score func(*Cluster) float64) (best *Cluster, top float64) {
	for _, c := range x.candidates(v) {
		s := score(c)
		if s > 0 && (s > top || s == top && bytes.Compare(c.ID[:], best.ID[:]) < 0) {
			best, top = c, s
		}
	}
	return best, top
}

func square(f float64) float64 { return f * f }

// Pair is a proposal to merge two clusters. The older one survives.
type Pair struct {
	Into, From uuid.UUID
	Similarity float64
}

// Merge returns the cluster that is to be merged with one of the index, the most similar
// one within the window.
func (x *Index) Merge(c *Cluster) (p Pair, ok bool) {
	best, similarity := x.best(c.Centroid, func(o *Cluster) float64 {
		if o.ID == c.ID || o.FirstAt.Sub(c.LastAt) > x.settings.Window || c.FirstAt.Sub(o.LastAt) > x.settings.Window {
			return 0
		}
		if s := Similarity(c.Centroid, o.Centroid); s >= mergeThreshold {
			return s
		}
		return 0
	})
	if best == nil {
		return p, false
	}
	if isOlder(best, c) {
		return Pair{Into: best.ID, From: c.ID, Similarity: similarity}, true
	}
	return Pair{Into: c.ID, From: best.ID, Similarity: similarity}, true
}

// isOlder reports whether a was created before b: ids grow with time.
func isOlder(a, b *Cluster) bool { return bytes.Compare(a.ID[:], b.ID[:]) < 0 }

// Member is a document of a story.
type Member struct {
	ID       uuid.UUID // of the article
	Vector   Vector
	IsPinned bool
}

// SplitOff returns the documents that form a story of their own: those that are not similar
// to the story, but to each other. Pinned ones stay.
func SplitOff(centroid Vector, members []Member) (out []uuid.UUID) {
	if len(members) < minSplitDocuments {
		return nil
	}
	var best []Member
	rest := slices.DeleteFunc(slices.Clone(members), func(m Member) bool {
		return m.IsPinned || Similarity(m.Vector, centroid) >= splitBelow
	})
	for _, first := range rest {
		group, sum := []Member{first}, first.Vector
		for _, m := range rest {
			if m.ID != first.ID && Similarity(m.Vector, sum) >= splitGroup {
				group, sum = append(group, m), sum.plus(m.Vector, 1)
			}
		}
		if len(group) > len(best) {
			best = group
		}
	}
	if len(best) < 2 {
		return nil
	}
	for _, m := range best {
		out = append(out, m.ID)
	}
	return out
}
