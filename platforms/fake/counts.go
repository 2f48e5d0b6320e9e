package fake

import "net/http"

// Counts are the totals of an account since the last reset.
type Counts struct {
	Network    string `json:"network"`
	Account    string `json:"account"`
	Posts      int    `json:"posts"` // without deleted ones
	Deleted    int    `json:"deleted"`
	Duplicates int    `json:"duplicates"` // posts, without deleted ones, that repeat another's text and reply target
	// With its token, including failed ones; since the start of this process at most
	Requests int `json:"requests"`
}

// Counts returns the totals of every account, in order of creation.
func (s *Server) Counts() []Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	type content struct{ text, replyTo string }
	all := make([]Counts, len(s.state.accountOrder))
	for i, account := range s.state.accountOrder {
		c := Counts{Network: account.network(), Account: account.Name, Requests: s.calls[account.ID]}
		seen := map[content]bool{}
		for _, p := range s.state.byAccount[account.ID] {
			if p.Deleted {
				c.Deleted++
				continue
			}
			c.Posts++
			key := content{p.Text, p.ReplyTo}
			if seen[key] {
				c.Duplicates++
			}
			seen[key] = true
		}
		all[i] = c
	}
	return all
}

// count counts a request.
func (s *Server) count(r *http.Request, as *fakeNetwork) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.accountOf(r, as); a != nil {
		s.calls[a.ID]++
	}
}

func (s controls) showCounts(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.Counts())
}
