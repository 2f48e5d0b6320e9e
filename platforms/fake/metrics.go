package fake

import (
	"hash/fnv"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"dateline/platforms/network"
)

// metric returns a number about a post, under the network's own name. It grows with
// the age of the post and never falls. ok is false for a metric that the network no
// longer reports (RetiredMetric). The caller must hold s.mu.
func (s *Server) metric(r *http.Request, p *Post, name string, kind network.Metric) (value int64, ok bool) {
	if slices.Contains(conditionsOf(r).retired, name) {
		return 0, false
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(p.ID)) // never fails
	reach := 400 + float64(sum.Sum32()%4000)
	share := map[network.Metric]float64{
		network.MetricViews: 1, network.MetricReach: 0.8, network.MetricLikes: 0.05, network.MetricReplies: 0.01,
		network.MetricReposts: 0.015,
		network.MetricQuotes:  0.004, network.MetricSaves: 0.008, network.MetricSends: 0.006,
		network.MetricClicks: 0.03, network.MetricAllClicks: 0.06,
	}[kind]
	age := max(s.now().Sub(p.CreatedAt), 0)
	value = int64(reach * share * (1 - math.Exp(-age.Hours()/s.options.MetricTime.Hours())))
	if kind == network.MetricReplies {
		for _, reply := range s.state.posts {
			if reply.ReplyTo == p.ID && !reply.Deleted {
				value++
			}
		}
	}
	return value, true
}

// setMetrics adds numbers to an entity, by their names in it. Retired ones are left
// out. The caller must hold s.mu.
func (s *Server) setMetrics(r *http.Request, p *Post, entity map[string]any, names map[string]network.Metric) {
	for name, kind := range names {
		if value, ok := s.metric(r, p, name, kind); ok {
			entity[name] = value
		}
	}
}

// DeletePost deletes a post at its network, as its moderators or another program
// would. It returns false if there is no such post.
func (s *Server) DeletePost(id string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.state.postByID[id]; p == nil || p.Deleted {
		return false, nil
	}
	return true, s.commit(record{Kind: kindDelete, ID: id})
}

// AgePosts makes all posts older, so that their numbers grow.
func (s *Server) AgePosts(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.state.posts {
		p.CreatedAt = p.CreatedAt.Add(-by)
	}
}

// agePosts serves POST /__state/age?by=24h.
func (s controls) agePosts(w http.ResponseWriter, r *http.Request) {
	by, err := time.ParseDuration(r.URL.Query().Get("by"))
	if err != nil || by < 0 {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "by must be a duration such as 24h"})
		return
	}
	s.AgePosts(by)
	w.WriteHeader(http.StatusNoContent)
}

// deletePost serves DELETE /__state/posts?id=….
func (s controls) deletePost(w http.ResponseWriter, r *http.Request) {
	found, err := s.DeletePost(r.URL.Query().Get("id"))
	switch {
	case err != nil:
		writeJSON(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
	case !found:
		writeJSON(w, http.StatusNotFound, map[string]string{"error": "there is no such post"})
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// mastodonIndex returns statuses by id.
// https://docs.joinmastodon.org/methods/statuses/#index
func (s mastodonFake) mastodonIndex(w http.ResponseWriter, r *http.Request, _ caller) {
	ids := r.URL.Query()["id[]"]
	if len(ids) > 20 {
		writeJSON(w, http.StatusUnprocessableEntity, mastodonError{"Too many ids"})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []map[string]any{}
	for _, id := range ids {
		if p := s.state.postByID[id]; p != nil && p.Network == "mastodon" && s.isListed(p) {
			list = append(list, s.mastodonCounted(r, p))
		}
	}
	writeJSON(w, http.StatusOK, list)
}

// mastodonCounted returns a status with its counts. The caller must hold s.mu.
func (s mastodonFake) mastodonCounted(r *http.Request, p *Post) map[string]any {
	entity := s.statusEntity(r, *p, *s.state.accounts[p.AccountID])
	names := map[string]network.Metric{
		"favourites_count": network.MetricLikes, "replies_count": network.MetricReplies,
		"reblogs_count": network.MetricReposts, "quotes_count": network.MetricQuotes,
	}
	for name := range names {
		delete(entity, name)
	}
	s.setMetrics(r, p, entity, names)
	return entity
}

// blueskyPosts is app.bsky.feed.getPosts, which omits posts that do not exist.
func (s blueskyFake) blueskyPosts(w http.ResponseWriter, r *http.Request) {
	uris := r.URL.Query()["uris"]
	if len(uris) > 25 {
		xrpcError(w, http.StatusBadRequest, "InvalidRequest", "Error: uris must not have more than 25 elements")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	posts := []map[string]any{}
	for _, uri := range uris {
		p := s.state.postByID[uri]
		if p == nil || p.Network != blueskyName || !s.isListed(p) {
			continue
		}
		entity := map[string]any{"uri": uri, "indexedAt": p.CreatedAt.Format(time.RFC3339Nano)}
		s.setMetrics(r, p, entity, map[string]network.Metric{
			"likeCount":   network.MetricLikes,
			"replyCount":  network.MetricReplies,
			"repostCount": network.MetricReposts, "quoteCount": network.MetricQuotes,
			"bookmarkCount": network.MetricSaves,
		})
		if len(p.Media) > 4 && !slices.Contains(conditionsOf(r).alter, PartMedia) {
			items := make([]map[string]string, len(p.Media))
			for i, m := range p.Media {
				items[i] = map[string]string{"$type": "app.bsky.embed.gallery#viewImage", "alt": m.Description}
			}
			entity["embed"] = map[string]any{"$type": "app.bsky.embed.gallery#view", "items": items}
		}
		posts = append(posts, entity)
	}
	writeJSON(w, http.StatusOK, map[string]any{"posts": posts})
}

// xLookup returns posts by id, and an error for each that does not exist.
// https://docs.x.com/x-api/posts/get-posts-by-ids
func (s xFake) xLookup(w http.ResponseWriter, r *http.Request, c caller) {
	query := r.URL.Query()
	ids, fields := strings.Split(query.Get("ids"), ","), strings.Split(query.Get("tweet.fields"), ",")
	for _, field := range fields {
		if slices.Contains(conditionsOf(r).retired, field) {
			invalidRequest(w, "The `tweet.fields` query parameter value ["+field+"] is not one of [public_metrics]",
				map[string][]string{"tweet.fields": {field}})
			return
		}
	}
	if len(ids) > 100 || query.Get("ids") == "" {
		invalidRequest(w, "The number of values in the `ids` query parameter list is not between 1 and 100", nil)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	body := map[string]any{}
	var data, failed []map[string]any
	for _, id := range ids {
		p := s.state.postByID[id]
		if p == nil || p.Network != "x" || !s.isListed(p) {
			failed = append(failed, map[string]any{
				"resource_id": id, "value": id, "resource_type": "tweet",
				"parameter": "ids", "title": "Not Found Error",
				"detail": "Could not find tweet with ids: [" + id + "].",
				"type":   "https://api.twitter.com/2/problems/resource-not-found",
			})
			continue
		}
		entity := xEntity(*p, s.networkNamed("x").root(r), fields)
		if slices.Contains(fields, "public_metrics") {
			public := map[string]any{}
			s.setMetrics(r, p, public, map[string]network.Metric{
				"like_count":    network.MetricLikes,
				"reply_count":   network.MetricReplies,
				"retweet_count": network.MetricReposts, "quote_count": network.MetricQuotes,
				"bookmark_count": network.MetricSaves, "impression_count": network.MetricViews,
			})
			entity["public_metrics"] = public
		}
		if slices.Contains(fields, "non_public_metrics") && p.AccountID == c.account.ID {
			private := map[string]any{}
			s.setMetrics(r, p, private, map[string]network.Metric{"url_link_clicks": network.MetricClicks})
			entity["non_public_metrics"] = private
		}
		data = append(data, entity)
	}
	if data != nil {
		body["data"] = data
	}
	if failed != nil {
		body["errors"] = failed
	}
	writeJSON(w, http.StatusOK, body)
}

// discordCounted adds reactions and the size of the message's thread. The caller must
// hold s.mu.
func (s discordFake) discordCounted(r *http.Request, p *Post, entity map[string]any) map[string]any {
	if likes, ok := s.metric(r, p, "reactions", network.MetricLikes); ok && likes > 0 {
		entity["reactions"] = []map[string]any{
			{"emoji": map[string]any{"name": "👍"}, "count": likes - likes/3}, {
				"emoji": map[string]any{"name": "🔥"}, "count": likes / 3,
			},
		}
	}
	if replies, ok := s.metric(r, p, "thread", network.MetricReplies); ok && replies > 0 {
		entity["thread"] = map[string]any{"id": p.ID, "message_count": replies}
	}
	return entity
}

// linkedinStatistics returns the lifetime statistics of an organization's posts.
// Posts without views are left out.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/organizations/share-statistics
func (s linkedinFake) linkedinStatistics(w http.ResponseWriter, r *http.Request, c caller) {
	query := r.URL.Query()
	_, id, _ := linkedinURN(query.Get("organizationalEntity"))
	s.mu.Lock()
	defer s.mu.Unlock()
	author := s.state.accounts[id]
	if author == nil || author.OwnerID != c.account.ID || !c.allowed("rw_organization_admin") {
		refuseLinkedIn(w, http.StatusForbidden, "ACCESS_DENIED",
			"Not enough permissions to access: "+
				"organizationalEntityShareStatistics.FINDER-organizationalEntity.20260701")
		return
	}
	elements := []map[string]any{}
	for _, name := range []string{"shares", "ugcPosts"} {
		for urn := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(query.Get(name), "List("), ")"), ",") {
			p := s.linkedinFind(urn)
			if p == nil || !s.isListed(p) || p.AccountID != author.ID {
				continue
			}
			total := map[string]any{}
			s.setMetrics(r, p, total, map[string]network.Metric{
				"likeCount":    network.MetricLikes,
				"commentCount": network.MetricReplies,
				"shareCount":   network.MetricReposts, "impressionCount": network.MetricViews,
				"uniqueImpressionsCount": network.MetricReach, "clickCount": network.MetricAllClicks,
			})
			if views, known := total["impressionCount"]; !known || views != int64(0) {
				elements = append(elements, map[string]any{
					strings.TrimSuffix(name, "s"): p.ID, "totalShareStatistics": total,
				})
			}
		}
	}
	linkedinList(w, 0, len(elements), elements)
}

// linkedinAnalytics returns one metric of a member's post.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/members/post-statistics
func (s linkedinFake) linkedinAnalytics(w http.ResponseWriter, r *http.Request, c caller) {
	query := r.URL.Query()
	kind, known := map[string]network.Metric{
		"IMPRESSION": network.MetricViews, "MEMBERS_REACHED": network.MetricReach,
		"REACTION": network.MetricLikes,
		"COMMENT":  network.MetricReplies, "RESHARE": network.MetricReposts, "POST_SAVE": network.MetricSaves,
		"POST_SEND":   network.MetricSends,
		"LINK_CLICKS": network.MetricClicks,
	}[query.Get("queryType")]
	entity := strings.TrimSuffix(strings.TrimPrefix(query.Get("entity"), "("), ")")
	entity = strings.TrimPrefix(strings.TrimPrefix(entity, "share:"), "ugc:")
	urn, err := url.QueryUnescape(entity)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.linkedinFind(urn)
	switch {
	case !c.allowed("r_member_postAnalytics"):
		refuseLinkedIn(w, http.StatusForbidden, "ACCESS_DENIED",
			"Not enough permissions to access: memberCreatorPostAnalytics.FINDER-entity.20260701")
		return
	case err != nil || p == nil || !s.isListed(p) || p.AccountID != c.account.ID:
		refuseLinkedIn(w, http.StatusNotFound, "NOT_FOUND", "Could not find entity")
		return
	}
	value, ok := s.metric(r, p, query.Get("queryType"), kind)
	if !known || !ok {
		refuseLinkedIn(w, http.StatusBadRequest, "ILLEGAL_ARGUMENT", "Invalid value for parameter queryType")
		return
	}
	linkedinList(w, 0, 1, []map[string]any{{"count": value, "metricType": query.Get("queryType")}})
}

// linkedinActions returns the likes and comments of a post.
func (s linkedinFake) linkedinActions(w http.ResponseWriter, r *http.Request, _ caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.linkedinFind(r.PathValue("urn"))
	if p == nil || !s.isListed(p) {
		refuseLinkedIn(w, http.StatusNotFound, "NOT_FOUND", "Could not find entity")
		return
	}
	likes, comments := map[string]any{}, map[string]any{}
	s.setMetrics(r, p, likes, map[string]network.Metric{"totalLikes": network.MetricLikes})
	s.setMetrics(r, p, comments, map[string]network.Metric{"aggregatedTotalComments": network.MetricReplies})
	writeJSON(w, http.StatusOK, map[string]any{"target": p.ID, "likesSummary": likes, "commentsSummary": comments})
}
