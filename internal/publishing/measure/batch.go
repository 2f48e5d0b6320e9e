package measure

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

// ref returns the post for Measure.
func (d Reading) ref(now time.Time, rules network.MeasureRules) network.PostRef {
	age, before := now.Sub(d.PostedAt), time.Duration(-1)
	if !d.MeasuredAt.IsZero() {
		before = d.MeasuredAt.Sub(d.PostedAt)
	}
	insights := slices.ContainsFunc(rules.Insights, func(at time.Duration) bool { return before < at && at <= age })
	return network.PostRef{RemoteID: d.RemoteID, Kind: d.Kind, IsReply: d.IsReply, Age: age, Insights: insights}
}

// next returns when a post is due again; zero: never.
func (d Reading) next(rules network.MeasureRules, now time.Time) time.Time {
	for _, age := range rules.Readings {
		if at := d.PostedAt.Add(age); at.After(now) {
			return at
		}
	}
	return time.Time{}
}

// skip returns the result of a reading that needs no call: the network does not report
// numbers of such posts, the first reading is later, or the last one is long past.
func (d Reading) skip(rules network.MeasureRules, now time.Time) (Result, bool) {
	result := Result{Reading: d, State: d.State, MissingSince: d.MissingSince, DueAt: d.next(rules, now)}
	age := now.Sub(d.PostedAt)
	switch {
	case rules.Unsupported != "" || len(rules.Readings) == 0:
		result.State, result.DueAt = Unsupported, time.Time{}
		return result, true
	case age < rules.Readings[0]:
		return result, true
	case age > rules.Readings[len(rules.Readings)-1]+24*time.Hour && d.State == Pending:
		// It was published long before metrics were read. A last number is better than
		// none, unless it is charged for or the network has deleted the post.
		return result, rules.Paid || d.Kind == "story"
	}
	return result, false
}

// readBatch makes one call of Measure and records its result.
func (r *run) readBatch(ctx context.Context, part []Reading, now time.Time) error {
	rules := r.rules(part[0].ref(now, network.MeasureRules{}))
	request := network.MeasureRequest{Skip: r.skipped(now), Admit: r.admit(r.caller(rules))}
	for _, d := range part {
		own := r.rules(d.ref(now, network.MeasureRules{}))
		request.Posts = append(request.Posts, d.ref(now, own))
	}
	measured, err := r.measurer.Measure(ctx, r.account, request)
	failure := network.AsError(err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.Limits != nil {
		r.Limits.Observe(ctx, r.caller(rules), network.CallMeasure, measured.Rates, failure)
	}
	r.note(measured, now)
	witness, err := r.witness(ctx, part, measured, request)
	if err != nil {
		return err
	}
	var results []Result
	for _, d := range part {
		if p, ok := measured.Posts[d.RemoteID]; ok {
			results = append(results, r.result(d, p, witness, now))
		}
	}
	if err := r.Store.RecordReadings(ctx, r.stored.ID, r.claim, results); err != nil {
		return err
	}
	r.count(ctx, results)
	if failure != nil {
		return r.failed(ctx, failure, now)
	}
	r.status.Failures, r.status.ReadAt = 0, now
	if measured.MissingScope != "" && len(measured.Posts) == 0 {
		r.pause(ReasonMissingScope,
			fmt.Sprintf("Reconnect the account to allow measuring: the permission %s is missing.",
				measured.MissingScope), now.Add(24*time.Hour))
	} else if len(results) < len(part) {
		r.pause(ReasonRefused, "The network did not answer for every post.", now.Add(time.Hour))
	}
	return nil
}

// skipped returns the metrics that the network refused recently.
func (r *run) skipped(now time.Time) []string {
	maps.DeleteFunc(r.status.Refused, func(_ string, until time.Time) bool { return !until.After(now) })
	return slices.Sorted(maps.Keys(r.status.Refused))
}

// admit acquires a rate-limit token for every call.
func (r *run) admit(caller ratelimit.Caller) func(ctx context.Context) error {
	if r.Limits == nil {
		return nil
	}
	return func(ctx context.Context) error {
		grant := r.Limits.AcquireShare(ctx, caller, network.CallMeasure, r.Share)
		if grant.OK {
			return nil
		}
		return &network.Error{
			Class: network.Throttled, Code: codeShareUsed, RetryAt: grant.RetryAt,
			Message: "The share of the rate limit that metrics may use is used up.",
		}
	}
}

// codeShareUsed is the code of refusals by this program.
const codeShareUsed = "share_used"

// note records what the result says about the account.
func (r *run) note(m network.Measured, now time.Time) {
	r.status.MissingScope = m.MissingScope
	for _, name := range m.Refused {
		if r.status.Refused == nil {
			r.status.Refused = map[string]time.Time{}
		}
		r.status.Refused[name] = now.Add(refusedFor)
		r.Log.Warn("the network refuses a metric", "account_id", r.stored.ID, "network", r.stored.Network, "metric",
			name)
	}
}

// witness reports whether another post of the account was found, which shows that
// missing posts are not the sign of an outage or of a lost permission. An account that
// never had another post needs no witness.
func (r *run) witness(
	ctx context.Context, part []Reading, m network.Measured, request network.MeasureRequest,
) (bool, error) {
	missing := false
	var ids []string
	for _, d := range part {
		ids = append(ids, d.RemoteID)
		switch m.Posts[d.RemoteID].State {
		case network.PostMeasured:
			return true, nil
		case network.PostMissing:
			missing = missing || !d.MissingSince.IsZero()
		}
	}
	switch {
	case !missing:
		return true, nil // nothing to confirm
	case len(part) > 1:
		return false, nil // none of them was found
	}
	id, err := r.Store.ReadablePost(ctx, r.stored.ID, ids)
	if err != nil || id == "" {
		return err == nil, err
	}
	request.Posts = []network.PostRef{{RemoteID: id}}
	other, err := r.measurer.Measure(ctx, r.account, request)
	return err == nil && other.Posts[id].State == network.PostMeasured, ctx.Err()
}

// result decides what a reading means.
func (r *run) result(d Reading, p network.PostMetrics, witness bool, now time.Time) Result {
	rules := r.rules(d.ref(now, network.MeasureRules{}))
	out := Result{Reading: d, At: now, DueAt: d.next(rules, now)}
	if rules.Paid && p.State != network.PostMissing && !d.ChargedOn.Equal(day(now)) {
		out.ChargedOn = day(now)
		r.status.ChargedReads++
	}
	switch p.State {
	case network.PostMissing:
		out.State, out.MissingSince = Missing, d.MissingSince
		switch {
		case d.MissingSince.IsZero():
			out.MissingSince, out.DueAt = now, now.Add(confirmAfter)
		case now.Sub(d.MissingSince) < confirmAfter:
			out.DueAt = d.MissingSince.Add(confirmAfter)
		case witness:
			out.State, out.DueAt = Deleted, time.Time{}
		default:
			out.DueAt = now.Add(time.Hour)
		}
	case network.PostUnavailable:
		out.State = Unavailable
	default:
		out.State, out.Values = Measured, maps.Clone(p.Values)
		if replies, ok := out.Values[network.MetricReplies]; ok {
			out.Values[network.MetricReplies] = max(replies-d.OwnReplies, 0)
		}
	}
	return out
}

func (r *run) count(ctx context.Context, results []Result) {
	states := map[State]int{}
	for _, one := range results {
		states[one.State]++
		if one.State == Measured {
			r.read++
		}
	}
	if r.Meter != nil {
		for state, n := range states {
			r.Meter.Measured(ctx, r.stored.Network, string(state), n)
		}
	}
}

// failed pauses reading as the network's error asks for. Publishing is not affected.
func (r *run) failed(ctx context.Context, e *network.Error, now time.Time) error {
	r.status.Failures++
	backoff := min(time.Minute<<min(r.status.Failures, 6), time.Hour)
	switch {
	case e.Status == http.StatusPaymentRequired:
		r.pause(ReasonNoCredits,
			"The network requires payment before it returns metrics. Publishing may fail as well. It said: "+e.Message,
			now.Add(24*time.Hour))
	case e.Class == network.Throttled:
		until := e.RetryAt
		if !until.After(now) {
			until = now.Add(15 * time.Minute)
		}
		r.pause(ReasonRateLimit, e.Message, until)
		if e.Code == codeShareUsed {
			r.status.Failures = 0
		}
	case e.Class == network.Auth && r.stored.IsRenewable && !r.renewed:
		return r.renew(ctx) // the posts are read again with the new token
	case e.Class == network.Auth:
		r.pause(ReasonUnauthorized, "Reconnect the account to allow measuring. The network said: "+e.Message,
			now.Add(6*time.Hour))
	case e.Class == network.Rejected:
		r.pause(ReasonRefused, e.Message, now.Add(6*time.Hour))
	default:
		r.pause(ReasonUnreachable, e.Message, now.Add(backoff))
	}
	return nil
}
