package fake

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// threadsNetwork fakes the Threads API.
// https://developers.facebook.com/docs/threads
func (s graphFake) threadsNetwork() *fakeNetwork {
	f := newGraphNetwork("threads", "/threads", "/oauth/authorize", nil)
	f.isAPI = func(path string) bool {
		return path != "/threads/oauth/authorize" && !strings.HasPrefix(path, "/threads/@")
	}
	notFound := graphError{
		Message: "The requested resource does not exist", Code: 24, Subcode: 4279009,
		Title:       "Media Not Found",
		UserMessage: "The media with this id cannot be found.",
	}
	g := &threads{graphPublisher{
		graphFake: s, network: f,
		missing: notFound, notReady: notFound, expired: notFound,
		failed: graphError{Message: "Invalid parameter", Code: 100, UserMessage: "The media could not be processed."},
		quota: graphError{
			Message: "Application request limit reached", Code: 9, Subcode: 2207042,
			UserMessage: "You reached maximum number of posts that is allowed to be published.",
		},
		quotas: func(reply bool) Rate {
			if reply {
				return s.quotaRate("threads", "replies", 1000)
			}
			return s.quotaRate("threads", "posts", 250)
		},
		permalink: func(r *http.Request, account, id string) string {
			return f.root(r) + "/@" + account + "/post/" + id
		},
	}}
	f.routes = g.route
	return f
}

type threads struct{ graphPublisher }

func (g *threads) route(mux *http.ServeMux) {
	const basic, publish, replies, remove = "threads_basic", "threads_content_publish", "threads_read_replies",
		"threads_delete"
	g.routeGrants(mux, graphGrants{
		network: g.network, exchange: "th_exchange_token", refresh: "th_refresh_token",
		wrong: func(w http.ResponseWriter) {
			refuseGraph(w, http.StatusBadRequest, graphError{
				Message: "Invalid verification code format.", Code: 100, Subcode: 36009,
			})
		},
	})
	mux.HandleFunc("GET /threads/{name}/post/{id}", showPost)
	mux.HandleFunc("GET /threads/{version}/{id}", g.graphAuthenticated(g.network, basic, g.node))
	mux.HandleFunc("DELETE /threads/{version}/{id}", g.graphAuthenticated(g.network, remove, g.remove, "deletes"))
	mux.HandleFunc("GET /threads/{version}/{id}/{edge}", graphEdges(map[string]http.HandlerFunc{
		"threads_publishing_limit": g.graphAuthenticated(g.network, basic, g.ownEdge(g.limit)),
		"threads":                  g.graphAuthenticated(g.network, basic, g.ownEdge(g.list(false))),
		"replies":                  g.graphAuthenticated(g.network, replies, g.ownEdge(g.list(true))),
		"insights": g.graphAuthenticated(g.network, basic,
			graphNode(g.graphInsights("threads", "threads_manage_insights", threadsInsights()))),
	}))
	mux.HandleFunc("POST /threads/{version}/{id}/{edge}", graphEdges(map[string]http.HandlerFunc{
		"threads":         g.graphAuthenticated(g.network, publish, g.ownEdge(g.create)),
		"threads_publish": g.graphAuthenticated(g.network, publish, g.ownEdge(g.publish), "publish"),
	}))
}

// node reads an account, a container or a post.
func (g *threads) node(w http.ResponseWriter, r *http.Request, c caller) {
	id := r.PathValue("id")
	g.mu.Lock()
	defer g.mu.Unlock()
	if id == "me" || id == c.account.ID {
		writeJSON(w, http.StatusOK,
			graphFields(r, map[string]any{
				"id": c.account.ID, "username": c.account.Name,
				"name":                        capital(c.account.Name),
				"threads_profile_picture_url": avatarOf(r, c.account),
			}))
		return
	}
	if created, _, ok := g.container(id, c); ok {
		entity := map[string]any{"id": id, "status": g.status(created, c)}
		if entity["status"] == "ERROR" {
			entity["error_message"] = "FAILED_PROCESSING_VIDEO"
		}
		writeJSON(w, http.StatusOK, graphFields(r, entity))
		return
	}
	post := g.state.postByID[id]
	if post == nil || post.Network != "threads" || post.Deleted {
		graphNotFound(w, r.Method, id)
		return
	}
	writeJSON(w, http.StatusOK, graphFields(r, threadsEntity(post)))
}

func threadsEntity(post *Post) map[string]any {
	entity := map[string]any{
		"id": post.ID, "text": post.listedText(), "permalink": post.URL, "timestamp": graphTime(post.CreatedAt),
		"username":   post.Account,
		"media_type": graphMediaType(post, "TEXT_POST"), "children": graphChildren(post),
		"is_reply": post.ReplyTo != "",
	}
	if post.ReplyTo != "" {
		entity["replied_to"] = map[string]string{"id": post.ReplyTo}
	}
	return entity
}

func (g *threads) limit(w http.ResponseWriter, r *http.Request, c caller) {
	g.mu.Lock()
	used, config := g.usage(c, false)
	replies, replyConfig := g.usage(c, true)
	g.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{"data": []any{graphFields(r, map[string]any{
		"quota_usage": used, "config": config, "reply_quota_usage": replies, "reply_config": replyConfig,
	})}})
}

// list lists either posts or replies.
func (g *threads) list(replies bool) func(http.ResponseWriter, *http.Request, caller) {
	return func(w http.ResponseWriter, r *http.Request, c caller) {
		g.mu.Lock()
		list := g.graphPosts(r, c.account.ID, func(p *Post) bool { return (p.ReplyTo != "") == replies }, threadsEntity)
		g.mu.Unlock()
		graphList(w, r, g.network, list)
	}
}

func (g *threads) remove(w http.ResponseWriter, r *http.Request, c caller) {
	id := r.PathValue("id")
	g.mu.Lock()
	defer g.mu.Unlock()
	post := g.state.postByID[id]
	if post == nil || post.Deleted || post.AccountID != c.account.ID {
		graphNotFound(w, r.Method, id)
		return
	}
	if err := g.commit(record{Kind: kindDelete, ID: id}); err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"success": true, "deleted_id": id})
}

// create creates a container.
// https://developers.facebook.com/docs/threads/reference/publishing
func (g *threads) create(w http.ResponseWriter, r *http.Request, c caller) {
	created := graphContainer{
		Type: r.FormValue("media_type"), Item: r.FormValue("is_carousel_item") == "true",
		Text: r.FormValue("text"), ReplyTo: r.FormValue("reply_to_id"),
	}
	problem := threadsOptions(r, &created)
	if problem == nil {
		problem = g.checkText(&created)
	}
	if problem == nil {
		problem = g.attachments(r, c, &created)
	}
	if problem != nil {
		refuseGraph(w, http.StatusBadRequest, *problem)
		return
	}
	g.storeContainer(w, r, c, created)
}

func (g *threads) checkText(created *graphContainer) *graphError {
	if threadsCount(created.Text) > 500 {
		return &graphError{Message: "(#100) Param text must be at most 500 characters long.", Code: 100}
	}
	links := regexp.MustCompile(`(?i)(?:https?://|\bwww\.)[^\s<>"]+`).FindAllString(created.Text, -1)
	slices.Sort(links)
	if len(slices.Compact(links)) > 5 {
		return &graphError{
			Message: "THREADS_API__LINK_LIMIT_EXCEEDED", Code: 100,
			UserMessage: "A post can have at most 5 links.",
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if parent := g.state.postByID[created.ReplyTo]; created.ReplyTo != "" &&
		(parent == nil || parent.Network != "threads" || parent.Deleted) {
		return &graphError{Message: "(#100) Param reply_to_id is not a valid Threads media id", Code: 100}
	}
	return nil
}

func (g *threads) attachments(r *http.Request, c caller, created *graphContainer) *graphError {
	address := r.FormValue("image_url")
	switch created.Type {
	case "TEXT":
		if strings.TrimSpace(created.Text) == "" {
			return &graphError{Message: "(#100) The parameter text is required.", Code: 100}
		}
		return nil
	case "CAROUSEL":
		created.Children = strings.Split(r.FormValue("children"), ",")
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(created.Children) < 2 || len(created.Children) > 20 {
			return &graphError{Message: "(#100) A carousel has 2 to 20 children.", Code: 100}
		}
		for _, id := range created.Children {
			if child, _, ok := g.container(id, c); !ok || !child.Item || g.status(child, c) != "FINISHED" {
				return &graphError{Message: "(#100) The child " + id + " is not a finished carousel item", Code: 100}
			}
		}
		return nil
	case "VIDEO":
		address = r.FormValue("video_url")
	case "IMAGE":
	default:
		return &graphError{Message: "(#100) Param media_type must be one of {TEXT, IMAGE, VIDEO, CAROUSEL}", Code: 100}
	}
	got, err := g.fetch(r.Context(), address, c, r.FormValue("alt_text"))
	kind := "image/"
	if created.Type == "VIDEO" {
		kind = "video/"
	}
	switch {
	case err != nil:
		return &graphError{
			Message: "Media download has failed.", Code: 9004, Subcode: 2207052,
			UserMessage: "The media could not be fetched from this URI: " + address,
		}
	case !strings.HasPrefix(got.MIMEType, kind), kind == "image/" && got.MIMEType != "image/jpeg" &&
		got.MIMEType != "image/png":
		return &graphError{Message: "Only photo or video can be accepted as media type.", Code: 36001, Subcode: 2207005}
	case got.tooLarge:
		return &graphError{Message: "The image size is too large.", Code: 36000, Subcode: 2207004}
	}
	created.Media = []Media{got.Media}
	return nil
}

// threadsCount counts independently of the adapter: characters that are two
// columns wide and not letters are emoji, as are keycaps, and count their bytes.
func threadsCount(text string) int {
	n := 0
	for clusters := uniseg.NewGraphemes(text); clusters.Next(); {
		runes := clusters.Runes()
		first := runes[0]
		if isEmoji := clusters.Width() == 2 && !unicode.IsLetter(first) && !unicode.IsPunct(first); isEmoji ||
			slices.Contains(runes, 0x20E3) {
			n += len(clusters.Str())
		} else {
			n += utf8.RuneCountInString(clusters.Str())
		}
	}
	return n
}
