package fake

import (
	"encoding/json"
	"net/http"
	"strings"

	"dateline/platforms/network"
)

// graphInsights returns metrics of an object, by name, from the names that the edge
// knows. One unknown name fails the call.
func (s graphFake) graphInsights(
	network, scope string, known map[string]network.Metric,
) func(http.ResponseWriter, *http.Request, caller, string) {
	return func(w http.ResponseWriter, r *http.Request, c caller, id string) {
		if !c.allowed(scope) {
			refuseGraph(w, http.StatusForbidden, graphError{
				Message: "(#10) Application does not have permission for this action", Code: 10,
			})
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		p := s.state.postByID[id]
		if p == nil || p.Network != network || p.AccountID != c.account.ID || !s.isListed(p) {
			graphNotFound(w, r.Method, id)
			return
		}
		data := []map[string]any{}
		for name := range strings.SplitSeq(r.URL.Query().Get("metric"), ",") {
			kind, ok := known[name]
			value, reported := s.metric(r, p, name, kind)
			if !ok || !reported {
				graphInvalid(w, "The value must be a valid insights metric")
				return
			}
			var raw any = value
			if name == "post_clicks_by_type" {
				raw = map[string]int64{"link clicks": value, "other clicks": value}
			}
			encoded, _ := json.Marshal(raw)
			data = append(data, map[string]any{
				"name": name, "period": "lifetime", "values": []map[string]any{{"value": json.RawMessage(encoded)}},
			})
		}
		writeJSON(w, http.StatusOK, map[string]any{"data": data})
	}
}

// graphNode passes the path's id to a handler.
func graphNode(
	next func(http.ResponseWriter, *http.Request, caller, string),
) func(http.ResponseWriter, *http.Request, caller) {
	return func(w http.ResponseWriter, r *http.Request, c caller) { next(w, r, c, r.PathValue("id")) }
}

func facebookInsights(video bool) map[string]network.Metric {
	if video {
		return map[string]network.Metric{
			"blue_reels_play_count": network.MetricViews, "total_video_views": network.MetricViews,
		}
	}
	return map[string]network.Metric{
		"post_media_view":              network.MetricViews,
		"post_total_media_view_unique": network.MetricReach,
		"post_clicks":                  network.MetricAllClicks, "post_clicks_by_type": network.MetricClicks,
		"post_reactions_by_type_total": network.MetricLikes,
	}
}

func instagramInsights() map[string]network.Metric {
	return map[string]network.Metric{
		"views": network.MetricViews, "reach": network.MetricReach,
		"saved": network.MetricSaves, "likes": network.MetricLikes,
		"comments": network.MetricReplies, "replies": network.MetricReplies, "shares": network.MetricSends,
		"reposts": network.MetricReposts,
	}
}

func threadsInsights() map[string]network.Metric {
	return map[string]network.Metric{
		"views": network.MetricViews, "likes": network.MetricLikes,
		"replies": network.MetricReplies,
		"reposts": network.MetricReposts, "quotes": network.MetricQuotes, "shares": network.MetricSends,
	}
}

// facebookObjects returns objects by their ids. One that does not exist fails the
// call. https://developers.facebook.com/docs/graph-api/overview#multi-read
func (s graphFake) facebookObjects(w http.ResponseWriter, r *http.Request, _ caller) {
	ids := strings.Split(r.URL.Query().Get("ids"), ",")
	if len(ids) > 50 {
		graphInvalid(w, "Too many IDs. Maximum: 50. Provided: more.")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string]any{}
	for _, id := range ids {
		p := s.state.postByID[id]
		if p == nil || p.Network != "facebook" || !s.isListed(p) {
			graphNotFound(w, r.Method, id)
			return
		}
		found[id] = s.facebookCounted(r, p)
	}
	writeJSON(w, http.StatusOK, found)
}

// facebookCounted returns an object with the counters that were requested. The caller
// must hold s.mu.
func (s graphFake) facebookCounted(r *http.Request, p *Post) map[string]any {
	entity, fields := facebookEntity(p), r.URL.Query().Get("fields")
	for name, kind := range map[string]network.Metric{
		"reactions": network.MetricLikes, "likes": network.MetricLikes,
		"comments": network.MetricReplies,
	} {
		if !strings.Contains(fields, name+".") {
			continue
		}
		if value, ok := s.metric(r, p, name, kind); ok {
			entity[name] = map[string]any{"data": []any{}, "summary": map[string]any{"total_count": value}}
		}
	}
	// Facebook leaves out shares while there are none.
	if value, ok := s.metric(r, p, "shares", network.MetricReposts); ok && value > 0 &&
		strings.Contains(fields, "shares") {
		entity["shares"] = map[string]any{"count": value}
	}
	return entity
}
