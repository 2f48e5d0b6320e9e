package fake

import (
	"net/http"
	"strings"

	"dateline/platforms/network"
)

// instagramNetwork fakes the Instagram API with Instagram Login.
// https://developers.facebook.com/docs/instagram-platform
func (s graphFake) instagramNetwork() *fakeNetwork {
	f := newGraphNetwork("instagram", "/instagram", "/oauth/authorize", nil)
	f.isAPI = func(path string) bool {
		return path != "/instagram/oauth/authorize" && !strings.HasPrefix(path, "/instagram/p/")
	}
	g := &instagram{graphPublisher{
		graphFake: s, network: f,
		missing: graphError{
			Message: "Media not found", Code: 24, Subcode: 2207006, Title: "Media Not Found",
			UserMessage: "The media with this id cannot be found.",
		},
		notReady: graphError{
			Message: "Media ID is not available", Code: 9007, Subcode: 2207027,
			Title: "Media not ready", UserMessage: "The media is not ready for publishing, please wait for a moment",
		},
		expired: graphError{
			Message: "Media expired", Code: -2, Subcode: 2207020, Title: "Media expired",
			UserMessage: "The media you are trying to access has expired. Please try to upload again.",
		},
		failed: graphError{
			Message: "Create media failed", Code: -1, Subcode: 2207032,
			UserMessage: "Create media fail, please try to re-create media",
		},
		quota: graphError{
			Message: "Application request limit reached", Code: 9, Subcode: 2207042,
			UserMessage: "You reached maximum number of posts that is allowed to be published by Content " +
				"Publishing API.",
		},
		quotas: func(bool) Rate { return s.quotaRate("instagram", "posts", 100) },
		permalink: func(r *http.Request, _, id string) string {
			return f.root(r) + "/p/" + id
		},
	}}
	f.routes = g.route
	return f
}

type instagram struct{ graphPublisher }

func (g *instagram) route(mux *http.ServeMux) {
	const basic, publish, comments = "instagram_business_basic", "instagram_business_content_publish",
		"instagram_business_manage_comments"
	g.routeGrants(mux, graphGrants{
		network: g.network, exchange: "ig_exchange_token", refresh: "ig_refresh_token",
		permissions: true,
		wrong: func(w http.ResponseWriter) { // this endpoint has its own error format
			writeJSON(w, http.StatusBadRequest, map[string]any{
				"error_type": "OAuthException", "code": 400, "error_message": "Invalid authorization code",
			})
		},
	})
	mux.HandleFunc("GET /instagram/p/{id}", showPost)
	mux.HandleFunc("GET /instagram/{version}/{id}", g.graphAuthenticated(g.network, basic, g.node))
	mux.HandleFunc("GET /instagram/{version}/{id}/{edge}", graphEdges(map[string]http.HandlerFunc{
		"content_publishing_limit": g.graphAuthenticated(g.network, basic, g.ownEdge(g.limit)),
		"media":                    g.graphAuthenticated(g.network, basic, g.ownEdge(g.list)),
		"stories":                  g.graphAuthenticated(g.network, basic, g.ownEdge(g.list)),
		"comments":                 g.graphAuthenticated(g.network, comments, g.listComments),
		"insights": g.graphAuthenticated(g.network, basic,
			graphNode(g.graphInsights("instagram", "instagram_business_manage_insights", instagramInsights()))),
	}))
	mux.HandleFunc("POST /instagram/{version}/{id}/{edge}", graphEdges(map[string]http.HandlerFunc{
		"media":         g.graphAuthenticated(g.network, publish, g.ownEdge(g.create)),
		"media_publish": g.graphAuthenticated(g.network, publish, g.ownEdge(g.publish), "publish"),
		"comments":      g.graphAuthenticated(g.network, comments, g.comment, "comments"),
	}))
	mux.HandleFunc("POST /instagram/ig-api-upload/{version}/{id}", g.graphAuthenticated(g.network, publish, g.upload))
}

// showPost redirects a permalink to the timeline.
func showPost(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if strings.Trim(id, "0123456789") != "" {
		http.NotFound(w, r)
		return
	}
	http.Redirect(w, r, "/#p"+id, http.StatusFound) //nolint:gosec // id is a number, checked above
}

// node reads an account, a container, a post or a comment.
func (g *instagram) node(w http.ResponseWriter, r *http.Request, c caller) {
	id := r.PathValue("id")
	g.mu.Lock()
	defer g.mu.Unlock()
	if id == "me" || id == c.account.ID {
		writeJSON(w, http.StatusOK, graphFields(r, map[string]any{
			"id": "9" + c.account.ID, "user_id": c.account.ID, "username": c.account.Name,
			"name": capital(c.account.Name), "account_type": "BUSINESS",
			"profile_picture_url": avatarOf(r, c.account),
		}))
		return
	}
	if created, _, ok := g.container(id, c); ok {
		state := g.status(created, c)
		text := map[string]string{
			"IN_PROGRESS": "In Progress: Media is still being processed.",
			"FINISHED":    "Finished: Media has been uploaded and it is ready to be published.",
			"PUBLISHED":   "Published: Media has been published.", "EXPIRED": "Expired: The container has expired.",
			"ERROR": "Error: Media upload has failed with error code 2207026",
		}
		entity := map[string]any{"id": id, "status_code": state, "status": text[state]}
		if created.Upload || created.Partial != "" {
			entity["video_status"] = map[string]any{
				"uploading_phase": map[string]any{"status": "in_progress", "bytes_transferred": created.Received},
			}
		}
		writeJSON(w, http.StatusOK, graphFields(r, entity))
		return
	}
	post := g.state.postByID[id]
	if post == nil || post.Network != "instagram" || post.Deleted {
		graphNotFound(w, r.Method, id)
		return
	}
	writeJSON(w, http.StatusOK, graphFields(r, g.entity(r)(post)))
}

// entity returns the entity of a post with its counters. The caller must hold g.mu.
func (g *instagram) entity(r *http.Request) func(*Post) map[string]any {
	return func(p *Post) map[string]any {
		entity := instagramEntity(p)
		g.setMetrics(r, p, entity, map[string]network.Metric{
			"like_count": network.MetricLikes, "comments_count": network.MetricReplies,
		})
		return entity
	}
}

func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

func instagramEntity(post *Post) map[string]any {
	if post.ReplyTo != "" {
		return map[string]any{
			"id": post.ID, "text": post.listedText(), "timestamp": graphTime(post.CreatedAt),
			"username": post.Account,
		}
	}
	return map[string]any{
		"id": post.ID, "caption": post.listedText(), "permalink": post.URL, "timestamp": graphTime(post.CreatedAt),
		"media_type": graphMediaType(post, ""), "children": graphChildren(post), "username": post.Account,
	}
}

func (g *instagram) limit(w http.ResponseWriter, r *http.Request, c caller) {
	g.mu.Lock()
	used, config := g.usage(c, false)
	g.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{
		"data": []any{graphFields(r, map[string]any{"quota_usage": used, "config": config})},
	})
}

func (g *instagram) list(w http.ResponseWriter, r *http.Request, c caller) {
	g.mu.Lock()
	stories := r.PathValue("edge") == "stories"
	list := g.graphPosts(r, c.account.ID, func(p *Post) bool { return p.ReplyTo == "" && isStory(p) == stories },
		g.entity(r))
	g.mu.Unlock()
	graphList(w, r, g.network, list)
}

// listComments lists the comments on one post, newest first.
func (g *instagram) listComments(w http.ResponseWriter, r *http.Request, c caller) {
	id := r.PathValue("id")
	g.mu.Lock()
	defer g.mu.Unlock()
	if post := g.state.postByID[id]; post == nil || post.Network != "instagram" || post.Deleted || post.ReplyTo != "" {
		graphNotFound(w, r.Method, id)
		return
	}
	list := g.graphPosts(r, c.account.ID, func(p *Post) bool { return p.ReplyTo == id }, instagramEntity)
	graphList(w, r, g.network, list)
}

// comment comments on a post; this edge does not exist for comments.
func (g *instagram) comment(w http.ResponseWriter, r *http.Request, c caller) {
	received, id, message := g.now(), r.PathValue("id"), r.FormValue("message")
	g.mu.Lock()
	defer g.mu.Unlock()
	parent := g.state.postByID[id]
	switch {
	case parent == nil || parent.Network != "instagram" || parent.Deleted || parent.ReplyTo != "":
		graphNotFound(w, r.Method, id)
	case strings.TrimSpace(message) == "":
		graphInvalid(w, "The parameter message is required")
	default:
		g.storeGraphPost(w, r, &Post{
			ID: g.state.nextID(g.now()), Network: "instagram", AccountID: c.account.ID, Account: c.account.Name,
			Text: message, ReplyTo: id, Visibility: "public", URL: parent.URL, ReceivedAt: received,
		}, nil)
	}
}
