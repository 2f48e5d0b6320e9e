package meilitest

import (
	"encoding/json"
	"slices"
)

// FailTasks lets tasks of a type fail; empty: none.
func (s *Server) FailTasks(kind string) { s.locked(func() { s.fails = kind }) }

// Busy lets searches be refused, since too many wait.
func (s *Server) Busy(busy bool) { s.locked(func() { s.busy = busy }) }

// LoseAnswer lets the next answer of a path get lost, when what was asked for is done.
func (s *Server) LoseAnswer(path string) { s.locked(func() { s.loses = path }) }

// Limit bounds the bytes of a body.
func (s *Server) Limit(bytes int) { s.locked(func() { s.maxBodyBytes = bytes }) }

// Drop takes an index away.
func (s *Server) Drop(uid string) { s.locked(func() { delete(s.indexes, uid) }) }

// Open makes an index, as somebody else would.
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

// Document gives a document of an index; nil: there is none.
func (s *Server) Document(uid, id string) (d map[string]any) {
	s.locked(func() {
		if x := s.indexes[uid]; x != nil {
			d = x.docs[id]
		}
	})
	return d
}

// Settings gives an index's settings, with its embedders.
func (s *Server) Settings(uid string) (raw string) {
	s.locked(func() {
		if x := s.indexes[uid]; x != nil {
			b, _ := json.Marshal(map[string]any{"settings": x.settings, "embedders": x.embedders})
			raw = string(b)
		}
	})
	return raw
}

// Last gives the last search that was asked for.
func (s *Server) Last() (last map[string]any) {
	s.locked(func() { last = s.searches[len(s.searches)-1] })
	return last
}
