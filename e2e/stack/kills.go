package stack

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/testing/e2etest"
)

// Connect connects an account with the form of a network, and returns its id.
func (s *Stack) Connect(network string, values map[string]string) string {
	s.Helper()
	var made struct{ ID string }
	code, err := s.Call(0, http.MethodPost, "/api/v1/accounts/form",
		map[string]any{"network": network, "values": values}, &made)
	if err != nil || code != http.StatusCreated {
		s.Fatalf("connecting: %d, %v", code, err)
	}
	return made.ID
}

// PublishArticlesKilled publishes articles on a publishing system while responses are lost and the
// worker is killed every five seconds. All of them must be posted. from
// and to are the addresses of the system and of the proxy that loses responses.
func PublishArticlesKilled(t *testing.T, network, from, to string, values map[string]string, articles int) {
	t.Helper()
	program, settings := Build(t, network, ""), filepath.Join(t.TempDir(), "networks.json")
	e2etest.Must(t, os.WriteFile(settings, []byte(`{"`+network+`":{"finish_seconds":5}}`), 0o600))
	s := Open(t, Engines{Env: []string{
		"DATELINE_NETWORKS_FILE=" + settings,
		"DATELINE_ALLOW_PRIVATE_HOSTS=" + strings.NewReplacer("http://", "").Replace(from+","+to),
	}})
	s.Setup(program)
	s.API("api", program)
	account := s.Connect(network, values)
	db, err := pgx.Connect(t.Context(), s.Setting("DATABASE_URL"))
	e2etest.Must(t, err)
	_, err = db.Exec(t.Context(), "update accounts set base_url = replace(base_url, $1, $2)", from, to)
	e2etest.Must(t, errors.Join(err, db.Close(t.Context())))
	texts := make([]string, articles)
	for i := range texts {
		texts[i] = fmt.Sprintf("Tin số %d: triều cường lên cao\n\nNước ngập ba quận.", i)
	}
	for i, end := range s.PublishKilled(program, account, texts) {
		if end != "posted" {
			t.Errorf("article %d is %s, want posted", i, end)
		}
	}
}

// PublishKilled publishes posts on an account, one after the other in a minute, while the
// worker is killed every five seconds. It returns how they ended.
func (s *Stack) PublishKilled(program, account string, texts []string) (ends []string) {
	s.Helper()
	const spread, every = time.Minute, 5 * time.Second
	worker := s.Worker("worker", program)
	at := time.Now().Add(15 * time.Second)
	ids := make([]string, len(texts))
	for i, text := range texts {
		var made struct{ ID string }
		due := at.Add(spread * time.Duration(i) / time.Duration(len(texts)))
		code, err := s.Call(0, http.MethodPost, "/api/v1/posts", map[string]any{
			"content": text, "accounts": []string{account}, "scheduled_time": due.Format(time.RFC3339Nano),
		}, &made)
		if err != nil || code != http.StatusCreated {
			s.Fatalf("scheduling post %d: %d, %v", i, code, err)
		}
		ids[i] = made.ID
	}
	kills := 0
	for ; time.Now().Before(at.Add(spread)); kills++ {
		time.Sleep(every)
		worker.Kill()
		worker = s.Worker("worker", program)
	}
	ends = s.Settled(ids)
	count := map[string]int{}
	for _, end := range ends {
		count[end]++
	}
	s.Logf("%d posts and %d kills: %v", len(texts), kills, count)
	return ends
}

// Settled waits until every post, each with one target, is posted, uncertain or failed, and
// returns which.
func (s *Stack) Settled(ids []string) []string {
	s.Helper()
	states := make([]string, len(ids))
	e2etest.Eventually(s, 10*time.Minute, "every post to be posted, uncertain or failed", func() bool {
		for i, id := range ids {
			var p struct {
				Targets []struct{ Status string }
			}
			if status, err := s.Call(0, http.MethodGet, "/api/v1/posts/"+id, nil, &p); err != nil ||
				status != http.StatusOK || len(p.Targets) != 1 {
				states[i] = fmt.Sprintf("status %d, %v", status, err)
				return false
			}
			switch states[i] = p.Targets[0].Status; states[i] {
			case "posted", "uncertain", "failed":
			default:
				return false
			}
		}
		return true
	})
	return states
}
