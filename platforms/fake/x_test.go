package fake_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
)

// newXSandbox returns a fake network with an account of X, whose token its calls
// contain.
func newXSandbox(t *testing.T, options fake.Options) (sandbox, fake.Account) {
	t.Helper()
	s := start(t, options)
	account, err := s.Add(fake.Account{Network: "x", Name: "desk"})
	if err != nil {
		t.Fatal(err)
	}
	s.token = account.Token
	return s, account
}

func (s sandbox) tweet(body string, want int) (id, response string) {
	s.t.Helper()
	res, response := s.call(http.MethodPost, "/x/2/tweets", body)
	if res.StatusCode != want {
		s.t.Fatalf("%s: %s, want %d", body, response, want)
	}
	var created struct{ Data struct{ ID string } }
	if err := json.Unmarshal([]byte(response), &created); err != nil {
		s.t.Fatal(err)
	}
	return created.Data.ID, response
}

func TestX_Refusals(t *testing.T) {
	clock := newTestClock()
	s, _ := newXSandbox(t, fake.Options{Clock: clock.Now})
	first, response := s.tweet(`{"text":"Giá < 5 & tuoitre.vn/a"}`, 201)
	if !strings.Contains(response, `"text":"Giá \u0026lt; 5 \u0026amp; https://t.co/`) {
		t.Errorf("answered %s", response)
	}
	if at, err := strconv.ParseUint(first, 10, 64); err != nil ||
		time.UnixMilli(int64(at>>22)+1288834974657).Sub(clock.Now()).Abs() > time.Second { //nolint:gosec // 41 bits
		t.Errorf("the id %s has another time than now", first)
	}
	for body, status := range map[string]int{
		`{"text":"Giá < 5 & tuoitre.vn/a"}`:                                   403,
		`{"text":"` + strings.Repeat("ộ", 141) + `"}`:                         403,
		`{"text":"$A and $B"}`:                                                403,
		`{"text":"x","reply":{"in_reply_to_tweet_id":"5"}}`:                   403,
		`{"text":"  "}`:                                                       400,
		`{"text":"x","media":{"media_ids":["5"]}}`:                            400,
		`{"text":"x","nonsense":1}`:                                           400,
		`{"text":`:                                                            400,
		`{"text":"a\ufeffb"}`:                                                 400,
		`{"text":"` + strings.Repeat("ộ", 140) + `"}`:                         201,
		`{"text":"A reply","reply":{"in_reply_to_tweet_id":"` + first + `"}}`: 201,
	} {
		_, response := s.tweet(body, status)
		if status != 201 && (!strings.Contains(response, `"type":`) || !strings.Contains(response, `"detail":`)) {
			t.Errorf("%s: no problem in %s", body, response)
		}
	}
	clock.advance(25 * time.Hour)
	s.tweet(`{"text":"Giá < 5 & tuoitre.vn/a"}`, 201) // a day later it is not a duplicate
}

func TestX_Listings(t *testing.T) {
	s, account := newXSandbox(t, fake.Options{})
	var ids []string
	for n := range 23 {
		id, _ := s.tweet(fmt.Sprintf(`{"text":"Post %d, a.vn"}`, n), 201)
		ids = append(ids, id)
	}
	type page struct {
		Data []map[string]any
		Meta struct {
			Count int    `json:"result_count"`
			Next  string `json:"next_token"`
		}
	}
	list := func(query string, want int) (p page) {
		t.Helper()
		res, body := s.call(http.MethodGet, "/x/2/users/"+account.ID+"/tweets?"+query, "")
		if err := json.Unmarshal([]byte(body), &p); err != nil || res.StatusCode != want {
			t.Fatalf("%s %s", res.Status, body)
		}
		return p
	}
	seen, next := []string{}, ""
	for range 3 {
		p := list("max_results=10&pagination_token="+next, 200)
		for _, one := range p.Data {
			seen = append([]string{one["id"].(string)}, seen...)
			if one["entities"] != nil || one["created_at"] != nil {
				t.Errorf("unrequested fields: %v", one)
			}
		}
		next = p.Meta.Next
	}
	if next != "" || fmt.Sprint(seen) != fmt.Sprint(ids) {
		t.Errorf("saw %d of %d, next %q", len(seen), len(ids), next)
	}
	newer := list("since_id="+ids[20]+"&tweet.fields=entities,created_at", 200)
	if len(newer.Data) != 2 || newer.Data[0]["entities"] == nil ||
		!strings.HasSuffix(newer.Data[0]["created_at"].(string), ".000Z") {
		t.Errorf("newer ones: %+v", newer)
	}
	list("max_results=4", 400)
	for _, id := range ids {
		if res, body := s.call(http.MethodDelete, "/x/2/tweets/"+id, ""); res.StatusCode != http.StatusOK ||
			!strings.Contains(body, `"deleted":true`) {
			t.Fatalf("%s %s", res.Status, body)
		}
	}
	if p := list("", 200); p.Data != nil || p.Meta.Count != 0 {
		t.Errorf("an empty list has no data: %+v", p)
	}
	if res, _ := s.call(http.MethodDelete, "/x/2/tweets/"+ids[0], ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("deleted twice: %s", res.Status)
	}
}

// Codes are valid for 30 seconds and only with PKCE, access tokens for two hours,
// refresh tokens once.
func TestX_Tokens(t *testing.T) {
	clock := newTestClock()
	s, _ := newXSandbox(t, fake.Options{Clock: clock.Now, AutoApprove: true})
	const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636, appendix B
	const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	code := func(challenge string) string {
		t.Helper()
		query := url.Values{
			"response_type": {"code"}, "client_id": {"dateline-sandbox"}, "redirect_uri": {
				"http://desk.example/cb",
			},
			"scope": {"tweet.read users.read offline.access"}, "state": {"s"}, "code_challenge": {challenge},
			"code_challenge_method": {"S256"},
		}
		page := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
		res, err := page.Get(s.URL() + "/x/i/oauth2/authorize?" + query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		back, err := res.Location()
		if err != nil {
			t.Fatal(err)
		}
		return back.Query().Get("code")
	}
	token := func(want int, form url.Values) (got tokens) {
		t.Helper()
		form.Set("redirect_uri", "http://desk.example/cb")
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/x/2/oauth2/token",
			strings.NewReader(form.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.SetBasicAuth("dateline-sandbox", "dateline-sandbox-secret")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if err := json.NewDecoder(res.Body).Decode(&got); err != nil || res.StatusCode != want {
			t.Fatalf("%s %+v, want %d", res.Status, got, want)
		}
		return got
	}
	exchange := func(want int, code, verifier string) tokens {
		t.Helper()
		return token(want, url.Values{
			"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier},
		})
	}
	exchange(400, code(""), verifier)
	exchange(400, code(challenge), "another")
	late := code(challenge)
	clock.advance(31 * time.Second)
	exchange(400, late, verifier)
	first := exchange(200, code(challenge), verifier)
	works := func(access string, want int) {
		t.Helper()
		if res, body := s.call(http.MethodGet, "/x/2/users/me", "", "Authorization",
			"Bearer "+access); res.StatusCode != want {
			t.Errorf("%s %s, want %d", res.Status, body, want)
		}
	}
	works(first.Access, 200)
	if res, _ := s.call(http.MethodPost, "/x/2/tweets", `{"text":"x"}`, "Authorization",
		"Bearer "+first.Access); res.StatusCode != http.StatusForbidden {
		t.Errorf("posted without the scope: %s", res.Status)
	}
	clock.advance(2 * time.Hour)
	works(first.Access, 401)
	refresh := func(want int, value string) tokens {
		t.Helper()
		return token(want, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {value}})
	}
	second := refresh(200, first.Refresh)
	works(second.Access, 200)
	if refused := refresh(400, first.Refresh); refused.Error != "invalid_request" {
		t.Errorf("%+v", refused)
	}
	token(400, url.Values{"grant_type": {"client_credentials"}})
	if res, _ := s.call(http.MethodPost, "/x/2/oauth2/token", "grant_type=refresh_token", "Content-Type",
		"application/x-www-form-urlencoded"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a token for an unknown application: %s", res.Status)
	}
}

// An upload continues after a restart, and the pages show the post.
func TestX_SurvivesRestart(t *testing.T) {
	options := fake.Options{Journal: filepath.Join(t.TempDir(), "sandbox.jsonl")}
	s, _ := newXSandbox(t, options)
	_, body := s.call(http.MethodPost, "/x/2/media/upload/initialize",
		`{"media_type":"image/png","total_bytes":20,"media_category":"tweet_image"}`)
	var upload struct{ Data struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &upload); err != nil {
		t.Fatal(err)
	}
	segment := func(index int, data string, want int) {
		t.Helper()
		form := "--b\r\nContent-Disposition: form-data; name=\"segment_index\"\r\n\r\n" + strconv.Itoa(index) +
			"\r\n--b\r\nContent-Disposition: form-data; name=\"media\"; filename=\"s\"\r\n\r\n" + data + "\r\n--b--\r\n"
		if res, body := s.call(http.MethodPost, "/x/2/media/upload/"+upload.Data.ID+"/append", form, "Content-Type",
			"multipart/form-data; boundary=b"); res.StatusCode != want {
			t.Fatalf("%s %s", res.Status, body)
		}
	}
	segment(0, "\x89PNG\r\n\x1a\n", 200)
	segment(1000, "x", 400)
	if res, _ := s.call(http.MethodPost, "/x/2/media/upload/"+upload.Data.ID+"/finalize",
		""); res.StatusCode != http.StatusBadRequest {
		t.Errorf("an incomplete upload was accepted: %s", res.Status)
	}
	s, _ = newXSandbox(t, options)
	segment(1, strings.Repeat("x", 99), 200)
	segment(1, strings.Repeat("x", 12), 200) // replaces the earlier segment
	if res, body := s.call(http.MethodPost, "/x/2/media/upload/"+upload.Data.ID+"/finalize",
		""); res.StatusCode != http.StatusOK || strings.Contains(body, "processing_info") {
		t.Errorf("%s %s", res.Status, body)
	}
	id, response := s.tweet(`{"text":"","media":{"media_ids":["`+upload.Data.ID+`"]}}`, 201)
	if !strings.Contains(response, `"text":"https://t.co/`) {
		t.Errorf("no address of the attachment: %s", response)
	}
	if _, body := s.call(http.MethodGet, "/media/"+upload.Data.ID, ""); len(body) != 20 {
		t.Errorf("the attachment has %d bytes", len(body))
	}
	if _, body := s.call(http.MethodGet, "/?part=posts", ""); !strings.Contains(body, `id="p`+id+`"`) ||
		!strings.Contains(body, "/media/"+upload.Data.ID) {
		t.Errorf("the timeline shows %s", body)
	}
	if res, _ := s.call(http.MethodGet, "/x/desk/status/"+id, ""); res.Request.URL.Path != "/" ||
		res.StatusCode != http.StatusOK {
		t.Errorf("the permalink leads to %s", res.Request.URL)
	}
}
