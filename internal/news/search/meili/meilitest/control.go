package meilitest

import (
	"encoding/json"
	"slices"
)

// FailTasks makes tasks of a type fail; empty: none.
func (s *Server) FailTasks(kind string) { s.locked(func() { s.fails = kind }) }

// Busy makes searches fail because too many are waiting.
func (s *Server) Busy(busy bool) { s.locked(func() { s.busy = busy }) }

// LoseAnswer loses the next response of a path after the request was executed.
func (s *Server) LoseAnswer(path string) { s.locked(func() { s.loses = path }) }

// Limit bounds the bytes of a body.
func (s *Server) Limit(bytes int) { s.locked(func() { s.maxBodyBytes = bytes }) }

// Drop deletes an index.
func (s *Server) Drop(uid string) { s.locked(func() { delete(s.indexes, uid) }) }

// Open creates an index, like another client would.
func (s *Server) Open(uid string) { s.locked(func() { s.open(uid) }) }

func (s *Server) locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Names are those of the indexes, sorted.
func (s *Server) Names() (names []string) {
	s.locked(func() {
		for uid := range s.indexes {
			names = append(names, uid)
		}
	})
	slices.Sort(names)
	return names
}

// Document returns a document of an index, or nil.
func (s *Server) Document(uid, id string) (d map[string]any) {
	s.locked(func() {
		if x := s.indexes[uid]; x != nil {
			d = x.docs[id]
		}
	})
	return d
}

// Settings returns an index's settings with its embedders.
func (s *Server) Settings(uid string) (raw string) {
	s.locked(func() {
		if x := s.indexes[uid]; x != nil {
			b, _ := json.Marshal(map[string]any{"settings": x.settings, "embedders": x.embedders})
			raw = string(b)
		}
	})
	return raw
}

// Last returns the last search request.
func (s *Server) Last() (last map[string]any) {
	s.locked(func() { last = s.searches[len(s.searches)-1] })
	return last
}
