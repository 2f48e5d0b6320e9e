package fake

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

const kindContainer = "container"

// graphContainer is a post, or a part of one, that is not published yet.
type graphContainer struct {
	Type     string         `json:"type"` // TEXT, IMAGE, VIDEO, REELS, CAROUSEL
	Item     bool           `json:"item,omitempty"`
	Text     string         `json:"text,omitempty"`
	ReplyTo  string         `json:"reply_to,omitempty"`
	Children []string       `json:"children,omitempty"`
	Media    []Media        `json:"media,omitempty"`
	Due      Media          `json:"due"`               // end and outcome of its processing
	Upload   bool           `json:"upload,omitempty"`  // its bytes are not uploaded yet
	Partial  string         `json:"partial,omitempty"` // media with the bytes received so far
	Received int64          `json:"received,omitempty"`
	PostID   string         `json:"post_id,omitempty"`
	Options  map[string]any `json:"options,omitempty"`
}

// graphPublisher implements what the networks with containers have in common.
type graphPublisher struct {
	graphFake
	network *fakeNetwork
	// The network's errors for refusals to publish.
	missing, notReady, expired, failed, quota graphError
	quotas                                    func(reply bool) Rate
	permalink                                 func(r *http.Request, account, id string) string
}

// container returns a container. The caller must hold s.mu.
func (p *graphPublisher) container(id string, c caller) (graphContainer, Object, bool) {
	var found graphContainer
	t, ok := p.object(p.network.name, kindContainer, id, &found)
	return found, t, ok && t.AccountID == c.account.ID
}

// storeContainer stores a new container, whose processing depends on the faults
// of the request, and responds with its id.
func (p *graphPublisher) storeContainer(w http.ResponseWriter, r *http.Request, c caller, created graphContainer) {
	p.scheduleMedia(r, &created.Due)
	if len(created.Media) > 0 && p.options.MediaDelay == 0 && conditionsOf(r).processingTime == 0 &&
		strings.HasPrefix(created.Media[0].MIMEType, "video/") {
		created.Due.ReadyAt = created.Due.ReadyAt.Add(time.Second)
	}
	p.mu.Lock()
	t := Object{
		ID: p.state.nextID(p.now()), Network: p.network.name, Kind: kindContainer, AccountID: c.account.ID,
		CreatedAt: p.now(),
	}
	err := p.putObject(t, created)
	p.mu.Unlock()
	if err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"id": t.ID})
}

// status returns the state of a container. The caller must hold s.mu.
func (p *graphPublisher) status(created graphContainer, c caller) string {
	now := p.now()
	switch {
	case created.PostID != "":
		return "PUBLISHED"
	case !now.Before(created.Due.ExpiresAt):
		return "EXPIRED"
	case created.Upload || now.Before(created.Due.ReadyAt):
		return "IN_PROGRESS"
	case created.Due.Failed:
		return "ERROR"
	}
	for _, id := range created.Children {
		child, _, ok := p.container(id, c)
		if !ok {
			return "ERROR"
		}
		if state := p.status(child, c); state != "FINISHED" {
			return state
		}
	}
	return "FINISHED"
}

// publish publishes a container.
func (p *graphPublisher) publish(w http.ResponseWriter, r *http.Request, c caller) {
	received := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	id := r.FormValue("creation_id")
	created, t, ok := p.container(id, c)
	if !ok || created.Item {
		refuseGraph(w, http.StatusBadRequest, p.missing)
		return
	}
	switch p.status(created, c) {
	case "PUBLISHED": // a container can be published once
		refuseGraph(w, http.StatusBadRequest, p.missing)
		return
	case "EXPIRED":
		refuseGraph(w, http.StatusBadRequest, p.expired)
		return
	case "IN_PROGRESS":
		refuseGraph(w, http.StatusBadRequest, p.notReady)
		return
	case "ERROR":
		refuseGraph(w, http.StatusBadRequest, p.failed)
		return
	}
	if used := p.used(c, created.ReplyTo != ""); used >= p.quotas(created.ReplyTo != "").Requests {
		refuseGraph(w, http.StatusForbidden, p.quota)
		return
	}
	post := Post{
		ID: p.state.nextID(p.now()), Network: p.network.name, AccountID: c.account.ID, Account: c.account.Name,
		Text: created.Text, ReplyTo: created.ReplyTo, Visibility: "public", ReceivedAt: received, Media: created.Media,
		Options: created.Options,
	}
	for _, child := range created.Children {
		found, _, _ := p.container(child, c)
		post.Media = append(post.Media, found.Media...)
	}
	created.PostID = post.ID
	post.URL = p.permalink(r, c.account.Name, post.ID)
	p.storeGraphPost(w, r, &post, func() error { return p.putObject(t, created) })
}

// storeGraphPost stores a post and responds with its id. The resolution of times
// is a second. The caller must hold s.mu.
func (s graphFake) storeGraphPost(w http.ResponseWriter, r *http.Request, post *Post, then func() error) {
	post.CreatedAt = s.now().Add(conditionsOf(r).skew).Truncate(time.Second)
	err := s.storePost(r, post)
	if err == nil && then != nil {
		err = then()
	}
	if err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"id": post.ID})
}

// used counts the posts, or the replies, of the last period. The caller must hold
// s.mu.
func (p *graphPublisher) used(c caller, reply bool) int {
	since := p.now().Add(-p.quotas(reply).Per)
	used := 0
	for _, post := range p.state.byAccount[c.account.ID] {
		if post.ReceivedAt.After(since) && (post.ReplyTo != "") == reply {
			used++
		}
	}
	return used
}

// usage returns one of the quotas in the API's format. The caller must hold s.mu.
func (p *graphPublisher) usage(c caller, reply bool) (used int, config map[string]any) {
	rate := p.quotas(reply)
	return p.used(c, reply), map[string]any{"quota_total": rate.Requests, "quota_duration": int(rate.Per / time.Second)}
}

// quotaRate returns a network's limit, unless the options set another.
func (s graphFake) quotaRate(network, bucket string, requests int) Rate {
	if rate, ok := s.options.NetworkRates[network][bucket]; ok {
		return rate
	}
	return Rate{Requests: requests, Per: 24 * time.Hour}
}

// graphPosts lists the posts of an account that match, newest first. The caller
// must hold s.mu.
func (s graphFake) graphPosts(
	r *http.Request, accountID string, want func(*Post) bool, entity func(*Post) map[string]any,
) []graphPost {
	var list []graphPost
	for _, post := range slices.Backward(s.state.byAccount[accountID]) {
		if s.isListed(post) && want(post) && graphSince(r, post.CreatedAt) {
			list = append(list, graphPost{ID: post.ID, Entity: graphFields(r, entity(post))})
		}
	}
	return list
}

// graphFields selects the requested fields.
func graphFields(r *http.Request, entity map[string]any) map[string]any {
	stored := map[string]any{}
	if id, ok := entity["id"]; ok {
		stored["id"] = id
	}
	for field := range strings.SplitSeq(r.URL.Query().Get("fields"), ",") {
		name, _, _ := strings.Cut(field, "{")
		if value, ok := entity[name]; ok && value != nil {
			stored[name] = value
		}
	}
	return stored
}

// graphMediaType returns a post's media type in listings; none is the type of a
// post without attachments.
func graphMediaType(post *Post, none string) string {
	switch {
	case len(post.Media) == 0:
		return none
	case len(post.Media) > 1:
		return "CAROUSEL_ALBUM"
	case strings.HasPrefix(post.Media[0].MIMEType, "video/"):
		return "VIDEO"
	default:
		return "IMAGE"
	}
}

// graphChildren lists the attachments of a carousel; nil: not a carousel.
func graphChildren(post *Post) any {
	if len(post.Media) < 2 {
		return nil
	}
	children := make([]map[string]string, len(post.Media))
	for i, m := range post.Media {
		children[i] = map[string]string{"id": m.ID}
	}
	return map[string]any{"data": children}
}

// ownEdge serves edges of the caller's own account.
func (p *graphPublisher) ownEdge(
	next func(http.ResponseWriter, *http.Request, caller),
) func(http.ResponseWriter, *http.Request, caller) {
	return func(w http.ResponseWriter, r *http.Request, c caller) {
		if id := r.PathValue("id"); id != c.account.ID && id != "me" {
			graphNotFound(w, r.Method, id)
			return
		}
		next(w, r, c)
	}
}

// graphEdges routes the edges of a node by name.
func graphEdges(edges map[string]http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		edge, ok := edges[r.PathValue("edge")]
		if !ok {
			refuseGraph(w, http.StatusBadRequest, graphError{
				Message: "Unknown path components: /" + r.PathValue("edge"), Code: 2500,
			})
			return
		}
		edge(w, r)
	}
}
