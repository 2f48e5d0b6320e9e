package main

import (
	"cmp"
	"slices"
	"strings"

	"dateline/internal/news/article/score"
)

// label labels the blocks: with a body, those whose words are in it; otherwise those
// that contain an annotated string.
func (t *trainingPage) label() {
	t.samples = make([]sample, len(t.page.Blocks))
	if t.truth.Body == "" {
		t.labelByStrings()
		return
	}
	blocks := make([][]string, len(t.page.Blocks))
	for i, b := range t.page.Blocks {
		blocks[i] = words(b.Text)
		if n := len(blocks[i]); n > 0 {
			t.samples[i].weight = float64(n) + 2
		}
	}
	for i, in := range align(t.truth.Body, blocks) {
		if in {
			t.samples[i].label = 1
		}
	}
	t.scale(1)
}

// labelByStrings labels the blocks that contain a string that must or must not be in the
// text.
func (t *trainingPage) labelByStrings() {
	for i, b := range t.page.Blocks {
		text := normalize(b.Text)
		in := func(s string) bool {
			s = normalize(s)
			return strings.Contains(text, s) || len(text) > 20 && strings.Contains(s, text)
		}
		x := &t.samples[i]
		switch {
		case slices.ContainsFunc(t.truth.With, in):
			x.label, x.weight = 1, 1
		case slices.ContainsFunc(t.truth.Without, in):
			x.weight = 1
		}
	}
	t.scale(0.3)
}

// scale gives all pages the same weight.
func (t *trainingPage) scale(weight float64) {
	total := 0.0
	for _, x := range t.samples {
		total += x.weight
	}
	for i := range t.samples {
		if total > 0 {
			t.samples[i].weight *= 100 * weight / total
		}
	}
}

// gramLength is the number of words from which a block is found anywhere in the body.
const gramLength = 4

// align reports which blocks, given as words, belong to a body. A long block belongs to
// it if most of its words follow each other in the body. A short one must continue the
// block before it or be a line of its own, because its words occur by chance.
func align(body string, blocks [][]string) []bool {
	whole := words(body)
	at := map[string][]int{} // positions of four words
	for i := range len(whole) - gramLength + 1 {
		gram := strings.Join(whole[i:i+gramLength], " ")
		at[gram] = append(at[gram], i)
	}
	lines := map[string]bool{}
	for line := range strings.SplitSeq(body, "\n") {
		lines[strings.Join(words(line), " ")] = true
	}
	in := make([]bool, len(blocks))
	found := map[string]bool{} // texts of blocks in the body
	next := 0                  // position after the block before
	for i, b := range blocks {
		text := strings.Join(b, " ")
		if len(b) < gramLength {
			for skip := range gramLength {
				if p := next + skip; len(b) > 0 && p+len(b) <= len(whole) && slices.Equal(whole[p:p+len(b)], b) {
					in[i], next = true, p+len(b)
					break
				}
			}
		} else if end, ok := findGrams(b, at, next); ok {
			in[i], next = true, end
		} else {
			in[i] = lines[text]
		}
		found[text] = found[text] || in[i]
	}
	for i, b := range blocks {
		if text := strings.Join(b, " "); len(b) > 0 && len(b) < gramLength && lines[text] && !found[text] {
			in[i] = true
		}
	}
	dropCopies(" "+strings.Join(whole, " ")+" ", blocks, in)
	return in
}

// findGrams reports whether most of the grams of a block are in the body, and where they
// end, preferably after a position.
func findGrams(b []string, at map[string][]int, after int) (end int, ok bool) {
	hits := 0
	for k := range len(b) - gramLength + 1 {
		positions := at[strings.Join(b[k:k+gramLength], " ")]
		if len(positions) == 0 {
			continue
		}
		hits++
		p, _ := slices.BinarySearch(positions, after)
		after = positions[min(p, len(positions)-1)]
	}
	return after + gramLength, 2*hits > len(b)-gramLength+1
}

// maxCopiedWords is the number of words up to which copies of a block are examined, such
// as the entries of a table of contents.
const maxCopiedWords = 15

// dropCopies removes copies of short blocks from the body, if it contains the text less
// often than the page. Those with more of the body around them stay.
func dropCopies(body string, blocks [][]string, in []bool) {
	copies := map[string][]int{}
	for i, b := range blocks {
		if in[i] && len(b) <= maxCopiedWords {
			text := strings.Join(b, " ")
			copies[text] = append(copies[text], i)
		}
	}
	around := make([]int, len(blocks)+1) // words in the body before each block
	for i, b := range blocks {
		around[i+1] = around[i]
		if in[i] {
			around[i+1] += len(b)
		}
	}
	for text, same := range copies {
		n := max(1, strings.Count(body, " "+text+" "))
		if n >= len(same) {
			continue
		}
		slices.SortStableFunc(same, func(a, b int) int {
			near := func(i int) int { return around[min(len(blocks), i+4)] - around[max(0, i-3)] }
			return cmp.Compare(near(b), near(a))
		})
		for _, i := range same[n:] {
			in[i] = false
		}
	}
}

func normalize(s string) string { return strings.Join(strings.Fields(s), " ") }

func words(s string) []string { return score.Words(strings.ToLower(s)) }
