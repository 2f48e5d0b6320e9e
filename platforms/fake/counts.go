package fake

import "net/http"

// Counts sums up what an account really did since the last reset.
type Counts struct {
	Network    string `json:"network"`
	Account    string `json:"account"`
	Posts      int    `json:"posts"` // that live
	Deleted    int    `json:"deleted"`
	Duplicates int    `json:"duplicates"` // live posts that repeat another's text and reply target
	Requests   int    `json:"requests"`   // with its token, failed ones too; since the start of this process at most
}

// Counts returns every account's, in the order in which they were made.
func (s *Server) Counts() []Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	type words struct{ text, replyTo string }
	all := make([]Counts, len(s.state.accountOrder))
	for i, account := range s.state.accountOrder {
		c := Counts{Network: account.network(), Account: account.Name, Requests: s.calls[account.ID]}
		seen := map[words]bool{}
		for _, p := range s.state.byAccount[account.ID] {
			if p.Deleted {
				c.Deleted++
				continue
			}
			c.Posts++
			said := words{p.Text, p.ReplyTo}
			if seen[said] {
				c.Duplicates++
			}
			seen[said] = true
		}
		all[i] = c
	}
	return all
}

// count remembers that a request came.
func (s *Server) count(r *http.Request, as *fakeNetwork) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.accountOf(r, as); a != nil {
		s.calls[a.ID]++
	}
}

func (s *Server) showCounts(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.Counts())
}
