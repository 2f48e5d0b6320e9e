package fake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"dateline/platforms/article"
	"dateline/platforms/network"
)

// zaloArticle is an article of any status, published or not.
type zaloArticle struct {
	ID          string     `json:"id"`
	Type        string     `json:"type"`
	Title       string     `json:"title"`
	Author      string     `json:"author"`
	Description string     `json:"description"`
	Cover       zaloCover  `json:"cover"`
	Body        []zaloPart `json:"body"`
	Status      string     `json:"status"`
	Comment     string     `json:"comment"`
	Gone        bool       `json:"gone,omitempty"`

	Before *zaloArticle `json:"before,omitempty"` // it was published, for the cache
}

type (
	zaloCover struct {
		Type   string `json:"cover_type"`
		URL    string `json:"photo_url"`
		Status string `json:"status"`
	}
	zaloPart struct {
		Type    string `json:"type"`
		Content string `json:"content,omitempty"`
		URL     string `json:"url,omitempty"`
	}
)

// zaloJob is a call that Zalo works on.
type zaloJob struct {
	Article zaloArticle `json:"article"`
	Files   []Media     `json:"files"`
	ReadyAt time.Time   `json:"ready_at"`
	Problem string      `json:"problem"`
	Done    bool        `json:"done"`
}

func zaloKey(c caller, id string) string { return "zalo/articles/" + c.account.ID + "/" + id }

// zaloPut stores an object of an account. The caller must hold s.mu.
func (s zaloFake) zaloPut(c caller, id, kind string, data any) error {
	return s.putObject(Object{
		ID: id, Network: zaloName, Kind: kind, AccountID: c.account.ID, CreatedAt: s.now(),
	}, data)
}

// zaloFind returns an article. The caller must hold s.mu.
func (s zaloFake) zaloFind(c caller, id string) (a zaloArticle, ok bool) {
	_, ok = s.object(zaloName, "articles", zaloKey(c, id), &a)
	there := s.state.postByID[id]
	return a, ok && !a.Gone && (there == nil || !there.Deleted)
}

// zaloFailed refuses a call whose change could not be stored.
func zaloFailed(w http.ResponseWriter, err error) bool {
	if err != nil {
		zaloError(w, -100, err.Error())
	}
	return err != nil
}

func withOption(options map[string]any, name string, value any) map[string]any {
	options = maps.Clone(options)
	options[name] = value
	return options
}

// zaloInvalid returns what is wrong with an article: the limits are one less than announced,
// and an emoji is two characters.
func zaloInvalid(a zaloArticle) string {
	long := func(text string, limit int) bool { return text == "" || len(utf16.Encode([]rune(text))) >= limit }
	switch {
	case a.Type != "normal":
		return "type accept only 2 value normal and video."
	case long(a.Title, 150):
		return "title allow 1 to 150 characters"
	case long(a.Author, 50):
		return "author allow 1 to 50 characters"
	case long(a.Description, 300):
		return "description allow 1 to 300 characters"
	case a.Cover.Type != "photo" || a.Cover.URL == "" || a.Cover.Status != "show":
		return "cover value is invalid"
	case len(a.Body) == 0:
		return "body value is invalid"
	}
	return ""
}

// zaloWrite creates an article or replaces all of it. The response is a token: Zalo fetches
// the images first.
func (s zaloFake) zaloWrite(w http.ResponseWriter, r *http.Request, c caller) {
	job := zaloJob{Article: zaloArticle{Status: "hide", Comment: "show"}}
	a := &job.Article
	if json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<20)).Decode(a) != nil {
		zaloError(w, -201, "body is invalid")
		return
	}
	if c.account.Kind == "basic" {
		zaloError(w, -224, "OA package does not support this feature")
		return
	}
	if problem := zaloInvalid(*a); problem != "" {
		zaloError(w, -201, problem)
		return
	}
	urls := []*string{&a.Cover.URL}
	for i := range a.Body {
		if a.Body[i].Type == "image" {
			urls = append(urls, &a.Body[i].URL)
		}
	}
	for _, address := range urls {
		file, err := graphFake(s).fetch(r.Context(), *address, c, "")
		if err != nil || file.Bytes > 1<<20 || file.MIMEType != "image/jpeg" && file.MIMEType != "image/png" {
			job.Problem = "Upload media failed"
		}
		*address = base(r) + "/media/" + file.ID
		job.Files = append(job.Files, file.Media)
	}
	var timing Media
	s.scheduleMedia(r, &timing)
	if job.ReadyAt = timing.ReadyAt; timing.Failed || conditionsOf(r).processingResult == MediaExpired {
		job.Problem = "Upload media failed"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if path.Base(r.URL.Path) == "create" {
		n, _ := strconv.ParseUint(s.state.nextID(s.now()), 10, 64)
		a.ID = fmt.Sprintf("%020x", n)
	} else if _, found := s.zaloFind(c, a.ID); !found {
		zaloError(w, -201, "id value is invalid")
		return
	}
	token := "zt" + s.state.nextID(s.now())
	if zaloFailed(w, s.zaloRun(r, c, token, &job)) {
		return
	}
	zaloData(w, map[string]string{"token": token})
}

// zaloRun finishes a call whose time has come. The caller must hold s.mu.
func (s zaloFake) zaloRun(r *http.Request, c caller, token string, job *zaloJob) error {
	if !job.Done && job.Problem == "" && !s.now().Before(job.ReadyAt) {
		job.Done = true
		a := job.Article
		before, _ := s.zaloFind(c, a.ID)
		if a.Before = before.Before; a.Status == "show" && before.Status != "show" {
			a.Before = &before
			post := Post{
				ID: a.ID, Network: zaloName, AccountID: c.account.ID, Account: c.account.Name, Text: zaloText(a),
				Visibility: "public", ReceivedAt: s.now(), URL: s.networkNamed(zaloName).root(r) + "/d/" + a.ID,
				Media: job.Files, Options: map[string]any{"title": a.Title},
			}
			for name, value := range map[string]string{
				"author": a.Author, "description": a.Description, "comment": a.Comment,
			} {
				if value != "show" && value != strings.ToUpper(c.account.Name) && !strings.HasPrefix(post.Text, value) {
					post.Options[name] = value
				}
			}
			if err := s.storePost(r, &post); err != nil {
				return err
			}
		}
		if err := s.zaloPut(c, zaloKey(c, a.ID), "articles", a); err != nil {
			return err
		}
	}
	return s.zaloPut(c, "zalo/jobs/"+token, "jobs", job)
}

// zaloText is the text of an article, whose body may only repeat the title.
func zaloText(a zaloArticle) string {
	if text := article.PlainText(zaloHTML(a)); text != a.Title {
		return strings.TrimSpace(a.Title + "\n\n" + text)
	}
	return a.Title
}

func zaloHTML(a zaloArticle) string {
	var all []string
	for _, p := range a.Body {
		if p.Type == "text" {
			all = append(all, p.Content)
		}
	}
	return strings.Join(all, "\n")
}

// zaloVerify returns the article of a token.
func (s zaloFake) zaloVerify(w http.ResponseWriter, r *http.Request, c caller) {
	var in struct {
		Token string `json:"token"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in) // an unknown token
	s.mu.Lock()
	defer s.mu.Unlock()
	var job zaloJob
	switch _, ok := s.object(zaloName, "jobs", "zalo/jobs/"+in.Token, &job); {
	case !ok:
		zaloError(w, -201, "token value is invalid")
	case s.now().Before(job.ReadyAt):
		zaloError(w, -214, "Media is being processed")
	case job.Problem != "":
		zaloError(w, -200, job.Problem)
	case !zaloFailed(w, s.zaloRun(r, c, in.Token, &job)):
		zaloData(w, map[string]string{"id": job.Article.ID})
	}
}

// zaloShown returns an article as the faults of its publishing left it. The caller must hold
// s.mu.
func (s zaloFake) zaloShown(a zaloArticle) zaloArticle {
	there := s.state.postByID[a.ID]
	before := a.Before
	a.Before = nil
	switch {
	case there == nil:
		return a
	case before != nil && s.now().Before(there.HiddenUntil):
		return *before
	}
	lacks := func(address string) bool { return there.lacks(Media{ID: path.Base(address)}) }
	if lacks(a.Cover.URL) {
		a.Cover.URL = ""
	}
	a.Body = slices.DeleteFunc(a.Body, func(p zaloPart) bool { return p.Type == "image" && lacks(p.URL) })
	if there.ListedText != "" {
		title, body := there.listedArticle(a.Title, "")
		a.Title = title
		images := slices.DeleteFunc(a.Body, func(p zaloPart) bool { return p.Type == "text" })
		a.Body = append([]zaloPart{{Type: "text", Content: body}}, images...)
	}
	return a
}

func (s zaloFake) zaloDetail(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, found := s.zaloFind(c, r.URL.Query().Get("id"))
	if !found {
		zaloError(w, -201, "id value is invalid")
		return
	}
	zaloData(w, s.zaloShown(a))
}

// zaloSlice lists articles, the newest first. The list has another name for old accounts.
func (s zaloFake) zaloSlice(w http.ResponseWriter, r *http.Request, c caller) {
	query := r.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit"))
	offset, _ := strconv.Atoi(query.Get("offset"))
	switch {
	case query.Get("type") != "normal":
		zaloError(w, -201, "type accept only 2 value normal and video.")
		return
	case limit > 10:
		zaloError(w, -201, "maximum limit is 10")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []zaloArticle
	for key := range s.state.objects {
		if id, ok := strings.CutPrefix(key, zaloKey(c, "")); ok {
			if a, ok := s.zaloFind(c, id); ok {
				all = append(all, a)
			}
		}
	}
	slices.SortFunc(all, func(a, b zaloArticle) int { return cmp.Compare(b.ID, a.ID) })
	list := []any{}
	for _, a := range all[min(offset, len(all)):min(offset+limit, len(all))] {
		a = s.zaloShown(a)
		one := map[string]any{
			"id": a.ID, "type": a.Type, "title": a.Title, "status": a.Status, "thumb": a.Cover.URL,
			"link_view": s.networkNamed(zaloName).root(r) + "/d/" + a.ID,
		}
		if there := s.state.postByID[a.ID]; there != nil {
			s.setMetrics(r, there, one, map[string]network.Metric{
				"total_view": network.MetricViews, "total_share": network.MetricReposts,
			})
		}
		list = append(list, one)
	}
	name := "medias"
	if c.account.Kind == "media" {
		name = "articles"
	}
	zaloData(w, map[string]any{name: list, "total": len(all)})
}

// zaloRemove deletes an article for good.
func (s zaloFake) zaloRemove(w http.ResponseWriter, r *http.Request, c caller) {
	var in zaloArticle
	_ = json.NewDecoder(r.Body).Decode(&in) // an unknown article
	s.mu.Lock()
	defer s.mu.Unlock()
	a, found := s.zaloFind(c, in.ID)
	if !found {
		zaloError(w, -201, "id value is invalid")
		return
	}
	a.Gone = true
	err := s.zaloPut(c, zaloKey(c, a.ID), "articles", a)
	if s.state.postByID[a.ID] != nil && err == nil {
		err = s.commit(record{Kind: kindDelete, ID: a.ID})
	}
	if !zaloFailed(w, err) {
		zaloData(w, map[string]string{"message": "Success"})
	}
}
