package botfilter

import "slices"

// automaton finds all tokens in one pass over a text: Aho and Corasick,
// "Efficient string matching", CACM 18 (1975).
type automaton struct {
	classes [256]uint8 // bytes that are in no token share class 0
	width   int
	next    []int32   // by state and class
	found   [][]int32 // the tokens that end in a state
}

func newAutomaton(tokens []string) *automaton {
	a := &automaton{width: 1}
	for _, token := range tokens {
		for _, b := range []byte(token) {
			if a.classes[b] == 0 {
				a.classes[b] = uint8(a.width) //nolint:gosec // fewer than 256 printable characters
				a.width++
			}
		}
	}
	for upper := 'A'; upper <= 'Z'; upper++ {
		a.classes[upper] = a.classes[upper-'A'+'a']
	}
	a.addState()
	for i, token := range tokens {
		state := int32(0)
		for _, b := range []byte(token) {
			at := int(state)*a.width + int(a.classes[b])
			if a.next[at] == 0 {
				a.next[at] = a.addState()
			}
			state = a.next[at]
		}
		a.found[state] = append(a.found[state], int32(i)) //nolint:gosec // some hundreds
	}
	a.link()
	return a
}

func (a *automaton) addState() int32 {
	a.next = append(a.next, make([]int32, a.width)...)
	a.found = append(a.found, nil)
	return int32(len(a.found) - 1) //nolint:gosec // some thousands
}

// link completes the transitions: where a state has none for a byte, it takes
// that of its longest suffix that starts a token.
func (a *automaton) link() {
	suffix := make([]int32, len(a.found))
	var queue []int32
	for _, to := range a.next[:a.width] {
		if to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		a.found[state] = slices.Concat(a.found[state], a.found[suffix[state]])
		for class := range a.width {
			at, fallback := int(state)*a.width+class, a.next[int(suffix[state])*a.width+class]
			if to := a.next[at]; to != 0 {
				suffix[to] = fallback
				queue = append(queue, to)
			} else {
				a.next[at] = fallback
			}
		}
	}
}

// eachMatch calls hit for each token in the text, ignoring case, with the
// position of its end.
func (a *automaton) eachMatch(text string, hit func(token int32, end int)) {
	state := int32(0)
	for i := range len(text) {
		state = a.next[int(state)*a.width+int(a.classes[text[i]])]
		for _, token := range a.found[state] {
			hit(token, i+1)
		}
	}
}
