package linkedin

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

const (
	// scopeAnalytics is the scope for all metrics of members, which LinkedIn grants to
	// reviewed apps (Community Management API).
	scopeAnalytics = "r_member_postAnalytics"
	// scopeOrganization is the scope for the metrics of organizations.
	scopeOrganization = "rw_organization_admin"

	maxMeasured = 20 // posts per call: their URNs are part of the address
)

// memberMetrics are the values of queryType (Member Post Statistics).
func memberMetrics() []struct {
	name   string
	metric network.Metric
} {
	return []struct {
		name   string
		metric network.Metric
	}{
		{"IMPRESSION", network.MetricViews},
		{"MEMBERS_REACHED", network.MetricReach},
		{"REACTION", network.MetricLikes},
		{"COMMENT", network.MetricReplies},
		{"RESHARE", network.MetricReposts},
		{"POST_SAVE", network.MetricSaves},
		{"POST_SEND", network.MetricSends},
		{"LINK_CLICKS", network.MetricClicks},
	}
}

// MeasureRules read organizations' posts together, and members' posts three times:
// each of their metrics is a call.
func (l *LinkedIn) MeasureRules(account network.Account, post network.PostRef) network.MeasureRules {
	const day = 24 * time.Hour
	rules := network.MeasureRules{
		Metrics: []network.Metric{
			network.MetricViews, network.MetricReach, network.MetricLikes, network.MetricReplies,
			network.MetricReposts, network.MetricAllClicks,
		},
		Batch:    maxMeasured,
		Readings: network.CounterReadings(),
		Quota: network.Quota{
			Bucket: "reads", Scope: network.ScopeAccount, Requests: l.options.Quotas.Reads, Per: day,
			FixedWindow: true,
			Costs:       map[network.CallKind]int{network.CallMeasure: 1},
		},
	}
	if !isOrganization(account) {
		rules.Readings = []time.Duration{day, 3 * day, 7 * day}
		rules.Insights = rules.Readings
		rules.Metrics = nil
		for _, m := range memberMetrics() {
			rules.Metrics = append(rules.Metrics, m.metric)
		}
	}
	if post.IsReply {
		rules.Unsupported = "LinkedIn does not report the numbers of a comment."
	}
	return rules
}

// Measure reads the share statistics of an organization, or the analytics of a
// member's posts.
func (l *LinkedIn) Measure(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (network.Measured, error) {
	if isOrganization(account) {
		return l.measureOrganization(ctx, account, request)
	}
	var out network.Measured
	analytics := account.BaseURL != "" || slices.Contains(account.Scopes, scopeAnalytics)
	if !analytics {
		out.MissingScope = scopeAnalytics
	}
	for _, p := range request.Posts {
		found, err := network.PostMetrics{State: network.PostMeasured}, error(nil)
		if out.MissingScope == "" {
			err = l.readAnalytics(ctx, account, p.RemoteID, request, &found, &out)
		}
		if err == nil && out.MissingScope != "" {
			err = l.readSocialActions(ctx, account, p.RemoteID, request, &found)
		}
		if isNotFound(err) {
			found, err = network.PostMetrics{State: network.PostMissing}, nil
		}
		if err != nil {
			return out, err
		}
		out.Add(p.RemoteID, found)
	}
	return out, nil
}

// measureOrganization reads the lifetime statistics of posts together. A post that
// nobody has seen may be missing in the response, like one that was deleted, so it is
// read itself (Organization Share Statistics).
func (l *LinkedIn) measureOrganization(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (network.Measured, error) {
	var out network.Measured
	if err := request.Allow(ctx); err != nil {
		return out, err
	}
	var shares, posts []string
	for _, p := range request.Posts {
		if strings.HasPrefix(p.RemoteID, "urn:li:share:") {
			shares = append(shares, escape(p.RemoteID))
		} else {
			posts = append(posts, escape(p.RemoteID))
		}
	}
	path := "/rest/organizationalEntityShareStatistics?q=organizationalEntity&organizationalEntity=" +
		escape(account.RemoteID)
	if len(shares) > 0 {
		path += "&shares=List(" + strings.Join(shares, ",") + ")"
	}
	if len(posts) > 0 {
		path += "&ugcPosts=List(" + strings.Join(posts, ",") + ")"
	}
	res, err := l.rest(ctx, account, path, finder())
	if isForbidden(err) {
		out.MissingScope = scopeOrganization
		return out, nil
	}
	if err != nil {
		return out, err
	}
	var list listed[struct {
		Share string `json:"share"`
		Post  string `json:"ugcPost"`
		Total struct {
			Likes       *int64 `json:"likeCount"`
			Comments    *int64 `json:"commentCount"`
			Shares      *int64 `json:"shareCount"`
			Impressions *int64 `json:"impressionCount"`
			Unique      *int64 `json:"uniqueImpressionsCount"`
			Clicks      *int64 `json:"clickCount"`
		} `json:"totalShareStatistics"`
	}]
	if err := res.Decode(&list); err != nil {
		return out, err
	}
	for _, e := range list.Elements {
		p := network.PostMetrics{State: network.PostMeasured}
		p.Set(network.MetricViews, e.Total.Impressions)
		p.Set(network.MetricReach, e.Total.Unique)
		p.Set(network.MetricLikes, e.Total.Likes)
		p.Set(network.MetricReplies, e.Total.Comments)
		p.Set(network.MetricReposts, e.Total.Shares)
		p.Set(network.MetricAllClicks, e.Total.Clicks)
		urn := e.Share
		if urn == "" {
			urn = e.Post
		}
		out.Add(urn, p)
	}
	for _, p := range request.Posts {
		if _, ok := out.Posts[p.RemoteID]; ok {
			continue
		}
		if err := request.Allow(ctx); err != nil {
			return out, err
		}
		_, err := l.rest(ctx, account, "/rest/posts/"+escape(p.RemoteID), call.Request{Method: http.MethodGet})
		switch {
		case isNotFound(err):
			out.Add(p.RemoteID, network.PostMetrics{State: network.PostMissing})
		case err != nil && !isForbidden(err):
			return out, err
		default:
			out.Add(p.RemoteID, network.PostMetrics{State: network.PostMeasured})
		}
	}
	return out, nil
}

// readAnalytics reads the metrics of a member's post, one call each. LinkedIn's
// documentation names the post in two ways (Member Post Statistics);
// Options.BareEntity selects one of them.
func (l *LinkedIn) readAnalytics(ctx context.Context, account network.Account, urn string,
	request network.MeasureRequest, found *network.PostMetrics, out *network.Measured,
) error {
	entity := escape(urn)
	if !l.options.BareEntity {
		kind := "ugc"
		if strings.HasPrefix(urn, "urn:li:share:") {
			kind = "share"
		}
		entity = "(" + kind + ":" + entity + ")"
	}
	for _, m := range memberMetrics() {
		if slices.Contains(request.Skip, m.name) || slices.Contains(out.Refused, m.name) {
			continue
		}
		if err := request.Allow(ctx); err != nil {
			return err
		}
		res, err := l.rest(ctx, account, "/rest/memberCreatorPostAnalytics?q=entity&entity="+entity+"&queryType="+
			m.name+"&aggregation=TOTAL", finder())
		switch e := network.AsError(err); {
		case isForbidden(err):
			out.MissingScope = scopeAnalytics
			return nil
		case e != nil && e.Status == http.StatusBadRequest && strings.Contains(e.Message, "queryType"):
			out.Refused = append(out.Refused, m.name)
			continue
		case err != nil:
			return err
		}
		var list listed[struct {
			Count *int64 `json:"count"`
		}]
		if err := res.Decode(&list); err != nil {
			return err
		}
		for _, e := range list.Elements {
			found.Set(m.metric, e.Count)
		}
	}
	return nil
}

// readSocialActions reads likes and comments with the token for publishing (Network
// Update Social Actions).
func (l *LinkedIn) readSocialActions(ctx context.Context, account network.Account, urn string,
	request network.MeasureRequest, found *network.PostMetrics,
) error {
	if err := request.Allow(ctx); err != nil {
		return err
	}
	res, err := l.rest(ctx, account, "/v2/socialActions/"+escape(urn), call.Request{Method: http.MethodGet})
	if err != nil {
		return err
	}
	var body struct {
		Likes struct {
			Total *int64 `json:"totalLikes"`
		} `json:"likesSummary"`
		Comments struct {
			Total *int64 `json:"aggregatedTotalComments"`
		} `json:"commentsSummary"`
	}
	if err := res.Decode(&body); err != nil {
		return err
	}
	found.Set(network.MetricLikes, body.Likes.Total)
	found.Set(network.MetricReplies, body.Comments.Total)
	return nil
}

func isNotFound(err error) bool {
	e := network.AsError(err)
	return e != nil && e.Status == http.StatusNotFound
}

func isForbidden(err error) bool {
	e := network.AsError(err)
	return e != nil && e.Status == http.StatusForbidden
}
