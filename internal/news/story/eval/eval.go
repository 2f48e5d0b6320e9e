// Package eval measures how well articles are grouped into stories, by datasets that
// state the story of each article (docs/how-to/evaluate-stories.md).
package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/story"
)

// Half is the part of a dataset that a story belongs to.
type Half string

// The halves. Settings are chosen on the inspected one only.
const (
	Inspect Half = "inspect"
	HeldOut Half = "held-out"
)

// Article is a line of a dataset.
type Article struct {
	ID          string    `json:"id"`
	Story       string    `json:"story"`
	Language    string    `json:"language"`
	Title       string    `json:"title"`
	Lead        string    `json:"lead,omitempty"`
	Body        string    `json:"body"`
	PublishedAt time.Time `json:"published_at"`
	Half        Half      `json:"half,omitempty"` // by the hash of the story, if missing
}

const (
	fileName = "articles.jsonl"
	maxLine  = 1 << 20
)

// Set is a dataset.
type Set struct {
	Name     string
	Articles []Article
}

// FindSets reads the dataset of a folder, or those of its subfolders.
func FindSets(dir string) (sets []Set, err error) {
	folders := []string{dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, filepath.Join(dir, e.Name()))
		}
	}
	for _, f := range folders {
		raw, err := os.ReadFile(filepath.Join(f, fileName)) //nolint:gosec // the folder is an argument of the command
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		articles, err := Parse(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(f, fileName), err)
		}
		sets = append(sets, Set{Name: filepath.Base(f), Articles: articles})
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("%s contains no %s; see docs/how-to/evaluate-stories.md", dir, fileName)
	}
	return sets, nil
}

// Parse parses a dataset, one JSON object per line.
func Parse(raw []byte) (out []Article, err error) {
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, maxLine)
	ids := map[string]bool{}
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var a Article
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		switch {
		case a.ID == "" || a.Story == "" || a.PublishedAt.IsZero():
			return nil, fmt.Errorf("line %d: id, story and published_at are required", n)
		case ids[a.ID]:
			return nil, fmt.Errorf("line %d: the id %s is already in use", n, a.ID)
		case a.Half == "":
			a.Half = halfOf(a.Story)
		case a.Half != Inspect && a.Half != HeldOut:
			return nil, fmt.Errorf("line %d: half must be inspect or held-out", n)
		}
		ids[a.ID] = true
		out = append(out, a)
	}
	return out, lines.Err()
}

func halfOf(story string) Half {
	h := fnv.New32a()
	_, _ = h.Write([]byte(story))
	if h.Sum32()%2 == 0 {
		return Inspect
	}
	return HeldOut
}

// Result is the result of a half of a dataset.
type Result struct {
	Set       string  `json:"set"`
	Half      Half    `json:"half"`
	Articles  int     `json:"articles"`
	Stories   int     `json:"stories"`
	Found     int     `json:"found_stories"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	// MicrosPerArticle is the time to count, weight and place an article.
	MicrosPerArticle float64 `json:"microseconds_per_article"`
}

// Evaluate places the articles of a set in the order of their time, and compares the
// result with the stated stories. Articles of all languages are placed, each language by
// itself.
func Evaluate(s Set, thresholds story.Thresholds) []Result {
	articles := slices.Clone(s.Articles)
	slices.SortStableFunc(articles, func(a, b Article) int { return a.PublishedAt.Compare(b.PublishedAt) })
	start := time.Now()
	found := place(articles, thresholds)
	micros := float64(time.Since(start).Microseconds()) / float64(max(len(articles), 1))
	var out []Result
	for _, half := range []Half{Inspect, HeldOut} {
		r := Result{Set: s.Name, Half: half, MicrosPerArticle: micros}
		r.Precision, r.Recall, r.F1 = bCubed(articles, found, half)
		stories, clusters := map[string]bool{}, map[uuid.UUID]bool{}
		for i, a := range articles {
			if a.Half == half {
				r.Articles++
				stories[a.Story], clusters[found[i]] = true, true
			}
		}
		r.Stories, r.Found = len(stories), len(clusters)
		if r.Articles > 0 {
			out = append(out, r)
		}
	}
	return out
}

// place returns the story of each article. As in the live system, stories are merged at
// the end of each day.
func place(articles []Article, thresholds story.Thresholds) []uuid.UUID {
	found := make([]uuid.UUID, len(articles))
	type stream struct {
		index *story.Index
		freq  *story.Frequencies
		all   []*story.Cluster
		day   int
	}
	streams := map[string]*stream{}
	for i, a := range articles {
		in := streams[a.Language]
		if in == nil {
			in = &stream{
				index: story.NewIndex(thresholds.Settings(a.Language), nil),
				freq:  story.NewFrequencies(a.Language), day: a.PublishedAt.YearDay(),
			}
			streams[a.Language] = in
		}
		if day := a.PublishedAt.YearDay(); day != in.day {
			in.day = day
			in.all = mergeAll(in.index, in.all, found)
		}
		counts := story.Count(story.Document{Title: a.Title, Lead: a.Lead, Body: a.Body})
		in.freq.Add(counts)
		v := story.Vectorize(counts, in.freq)
		c, _ := in.index.Nearest(v, a.PublishedAt)
		if c == nil {
			c = &story.Cluster{ID: numbered(i)}
			in.all = append(in.all, c)
		}
		c.Add(v, a.PublishedAt)
		in.index.Put(c)
		found[i] = c.ID
	}
	for _, in := range streams {
		mergeAll(in.index, in.all, found)
	}
	return found
}

func mergeAll(x *story.Index, all []*story.Cluster, found []uuid.UUID) []*story.Cluster {
	for again := true; again; {
		again = false
		for _, c := range all {
			if c.Documents < 2 || x.Get(c.ID) == nil {
				continue
			}
			p, ok := x.Merge(c)
			if !ok {
				continue
			}
			into, from := x.Get(p.Into), x.Get(p.From)
			into.Merge(*from)
			x.Delete(p.From)
			x.Put(into)
			for i, id := range found {
				if id == p.From {
					found[i] = p.Into
				}
			}
			again = true
		}
		all = slices.DeleteFunc(all, func(c *story.Cluster) bool { return x.Get(c.ID) == nil })
	}
	return all
}

// numbered returns an id that grows with i.
func numbered(i int) (id uuid.UUID) {
	for k := range 4 {
		id[k] = byte(i >> (24 - 8*k)) //nolint:gosec // the lowest 8 bits
	}
	return id
}

// bCubed returns the B-cubed precision, recall and F1 of the articles of a half (Bagga and
// Baldwin, 1998): for each article, the share of its found story that belongs to its true
// story, and the share of its true story that was found.
func bCubed(articles []Article, found []uuid.UUID, half Half) (precision, recall, f1 float64) {
	type pair struct {
		story string
		id    uuid.UUID
	}
	stories, clusters, both, n := map[string]int{}, map[uuid.UUID]int{}, map[pair]int{}, 0
	for i, a := range articles {
		stories[a.Story]++
		clusters[found[i]]++
		both[pair{a.Story, found[i]}]++
	}
	for i, a := range articles {
		if a.Half != half {
			continue
		}
		n++
		common := float64(both[pair{a.Story, found[i]}])
		precision += common / float64(clusters[found[i]])
		recall += common / float64(stories[a.Story])
	}
	precision, recall = precision/float64(max(n, 1)), recall/float64(max(n, 1))
	if precision+recall > 0 {
		f1 = 2 * precision * recall / (precision + recall)
	}
	return precision, recall, f1
}

// Mean returns the mean F1 of results, weighted by their articles.
func Mean(all []Result, half Half) float64 {
	var sum, n float64
	for _, r := range all {
		if r.Half == cmp.Or(half, r.Half) {
			sum += r.F1 * float64(r.Articles)
			n += float64(r.Articles)
		}
	}
	return sum / max(n, 1)
}
