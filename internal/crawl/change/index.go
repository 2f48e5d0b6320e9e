package change

import "slices"

// Index finds the articles whose SimHash is near to one, exactly and without
// looking at all of them. It is not safe for concurrent use.
type Index[ID comparable] struct {
	entries []entry[ID]
	tables  [4]map[uint16][]int32 // part → places in entries
	places  map[ID]int32
}

type entry[ID comparable] struct {
	hash SimHash // 0: removed
	id   ID
}

// Match is an article that Find found.
type Match[ID comparable] struct {
	ID       ID
	Distance int
}

// NewIndex makes an empty index.
func NewIndex[ID comparable]() *Index[ID] {
	x := &Index[ID]{places: map[ID]int32{}}
	for i := range x.tables {
		x.tables[i] = map[uint16][]int32{}
	}
	return x
}

// Len is how many articles are in the index.
func (x *Index[ID]) Len() int { return len(x.places) }

// Add puts an article into the index, in place of what it had under this id. An
// article without SimHash is not kept.
func (x *Index[ID]) Add(id ID, hash SimHash) {
	x.Remove(id)
	if hash == 0 {
		return
	}
	place := int32(len(x.entries)) //nolint:gosec // two billion articles do not fit into memory
	x.entries = append(x.entries, entry[ID]{hash, id})
	x.places[id] = place
	for i, block := range hash.Blocks() {
		x.tables[i][block] = append(x.tables[i][block], place)
	}
}

// Remove takes an article out.
func (x *Index[ID]) Remove(id ID) {
	place, known := x.places[id]
	if !known {
		return
	}
	for i, block := range x.entries[place].hash.Blocks() {
		left := slices.DeleteFunc(x.tables[i][block], func(other int32) bool { return other == place })
		if len(left) == 0 {
			delete(x.tables[i], block)
		} else {
			x.tables[i][block] = left
		}
	}
	delete(x.places, id)
	x.entries[place] = entry[ID]{}
	if len(x.entries) > 64 && len(x.places) < len(x.entries)/2 {
		x.compact()
	}
}

// compact forgets the places of removed articles.
func (x *Index[ID]) compact() {
	old := x.entries
	*x = *NewIndex[ID]()
	for _, e := range old {
		if e.hash != 0 {
			x.Add(e.id, e.hash)
		}
	}
}

// Find lists the articles at most Near bits away, the nearest first.
func (x *Index[ID]) Find(hash SimHash) []Match[ID] {
	var found []Match[ID]
	if hash == 0 {
		return nil
	}
	blocks := hash.Blocks()
	for i, block := range blocks {
		for _, place := range x.tables[i][block] {
			e := x.entries[place]
			distance := hash.Distance(e.hash)
			if distance > Near || sharedBefore(blocks, e.hash.Blocks(), i) {
				continue
			}
			found = append(found, Match[ID]{e.id, distance})
		}
	}
	slices.SortStableFunc(found, func(a, b Match[ID]) int { return a.Distance - b.Distance })
	return found
}

// sharedBefore says whether an earlier table has found the entry already.
func sharedBefore(a, b [4]uint16, table int) bool {
	for i := range table {
		if a[i] == b[i] {
			return true
		}
	}
	return false
}
