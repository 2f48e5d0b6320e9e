package embed_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dateline/internal/identity/secret"
	"dateline/internal/news/search/embed"
)

// endpoint responds as documented, with the vectors in any order: index identifies
// them.
func endpoint(t *testing.T, spoil func(http.ResponseWriter) bool) (*embed.Client, *int) {
	calls := new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*calls++
		var in struct {
			Model string
			Input []string
		}
		isRequest := r.URL.Path == "/v1/embeddings" && r.Method == http.MethodPost &&
			r.Header.Get("Authorization") == "Bearer a-key"
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || !isRequest {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if in.Model != "m" || len(in.Input) == 0 || len(in.Input) > 32 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if spoil != nil && spoil(w) {
			return
		}
		data := []any{}
		for i := len(in.Input) - 1; i >= 0; i-- {
			data = append(data, map[string]any{
				"object": "embedding", "index": i, "embedding": []float64{float64(len(in.Input[i])), 1},
			})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": "m"})
	}))
	t.Cleanup(s.Close)
	return &embed.Client{
		URL: s.URL + "/v1/", Key: secret.NewText("a-key"), Model: "m", VectorLength: 2,
		HTTP: s.Client(),
	}, calls
}

func TestEmbed_KeepsTheOrder(t *testing.T) {
	c, calls := endpoint(t, nil)
	texts := make([]string, 70)
	for i := range texts {
		texts[i] = strings.Repeat("x", i)
	}
	got, err := c.Embed(t.Context(), texts)
	if err != nil || len(got) != 70 || *calls != 3 {
		t.Fatalf("%d vectors with %d calls, %v", len(got), *calls, err)
	}
	for i, v := range got {
		if v[0] != float32(i) {
			t.Errorf("text %d got the vector of text %v", i, v[0])
		}
	}
}

func TestEmbed_InvalidResponsesAreErrorsWithoutSecrets(t *testing.T) {
	for name, spoil := range map[string]func(http.ResponseWriter) bool{
		"refused": func(w http.ResponseWriter) bool {
			http.Error(w, "Bearer a-key is wrong", http.StatusUnauthorized)
			return true
		},
		"no JSON": func(w http.ResponseWriter) bool { _, _ = w.Write([]byte("<html>")); return true },
		"too few": func(w http.ResponseWriter) bool { _, _ = w.Write([]byte(`{"data":[]}`)); return true },
		"wrong index": func(w http.ResponseWriter) bool {
			_, _ = w.Write([]byte(`{"data":[{"index":9,"embedding":[1,2]}]}`))
			return true
		},
		"too short": func(w http.ResponseWriter) bool {
			_, _ = w.Write([]byte(`{"data":[{"index":0,"embedding":[1]}]}`))
			return true
		},
	} {
		c, _ := endpoint(t, spoil)
		if _, err := c.Embed(t.Context(), []string{"words of an article"}); err == nil ||
			strings.Contains(err.Error(), "a-key") || strings.Contains(err.Error(), "article") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
