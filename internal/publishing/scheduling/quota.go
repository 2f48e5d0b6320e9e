package scheduling

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

const (
	// maxForecastLimit is the largest limit that is forecast: newsrooms do not reach
	// larger ones, and counting that far is expensive.
	maxForecastLimit = 5000
	// countMargin is how far beyond the limit posts are counted.
	countMargin = 1000
)

// accountWarnings returns warnings about the accounts and rate limits of a stored post.
func (c *check) accountWarnings(ctx context.Context, p post.Post) []post.Warning {
	var out []post.Warning
	if !willPublish(p) || p.ScheduledTime.IsZero() {
		return nil
	}
	for _, a := range c.targets {
		if a.Status != account.Connected {
			out = append(out, post.NewWarning(post.WarnReconnect, a.ID,
				"Reconnect the account {handle} before the post is due.", a.Handle))
		}
		if w := expiryWarning(p, a); w != nil {
			out = append(out, *w)
		}
		of, ok := c.lookup.limitsByID[a.ID]
		known := of.limits
		if !ok || of.err != nil || len(known.Quotas) == 0 {
			continue
		}
		use := network.CallPublish
		if p.ThreadParentID != nil {
			use = network.CallReply
		}
		caller := ratelimit.Caller{Network: a.Network, BaseURL: a.BaseURL, RemoteID: a.RemoteID, Quotas: known.Quotas}
		buckets := c.scheduler.buckets(ctx, caller)
		for _, q := range known.Quotas {
			at := slices.IndexFunc(buckets, func(b ratelimit.Bucket) bool {
				return b.Name == q.Bucket && b.Scope == q.Scope
			})
			// Do not reveal the posts of other workspaces that share an app's limit.
			if at < 0 || q.Cost(use) == 0 || q.Scope != network.ScopeAccount {
				continue
			}
			w, err := c.quotaWarning(ctx, p, a, known, q.Cost(use), q.FixedWindow, buckets[at])
			if err != nil {
				c.scheduler.Log.WarnContext(ctx, "rate limits are not forecast", "post_id", p.ID, "account_id", a.ID,
					"error", err)
			}
			if w != nil {
				out = append(out, *w)
			}
		}
	}
	return out
}

// expiryWarning warns if access to an account ends before the post is due.
func expiryWarning(p post.Post, a account.Account) *post.Warning {
	ends := a.AccessEndsAt()
	if ends.IsZero() || a.Status != account.Connected || p.ScheduledTime.Before(ends) {
		return nil
	}
	ends = inZone(ends, p.TimeZone)
	w := post.NewWarning(post.WarnExpires, a.ID,
		"Access to {handle} ends at {ends_at}, before the post is due. Reconnect the account before then.", a.Handle,
		ends)
	return &w
}

// quotaWindow is a period with a limited number of posts.
type quotaWindow struct {
	from, to time.Time
	allowed  int
}

// callsOf returns the number of calls that a post needs on an account: stored are those
// that the database counts, because the post is stored and scheduled.
func callsOf(p post.Post, account uuid.UUID) (stored, others int) {
	for _, t := range p.Targets {
		if t.AccountID != account {
			continue
		}
		if p.ID != uuid.Nil && p.Status == post.Scheduled {
			return len(p.Segments(t)), 0
		}
		return 0, len(p.Segments(t))
	}
	return 0, 0
}

// quotaWarning compares the number of posts around a time with one limit.
func (c *check) quotaWarning(
	ctx context.Context, p post.Post, a account.Account, known network.Limits, cost int, fixed bool, b ratelimit.Bucket,
) (*post.Warning, error) {
	allowed := b.Limit / cost
	if b.Limit == 0 || b.Per <= 0 && b.ResetAt.IsZero() || allowed > maxForecastLimit {
		return nil, nil
	}
	stored, others := callsOf(p, a.ID)
	for _, s := range quotaWindows(p.ScheduledTime, time.Now(), b, fixed || b.Reported, cost) {
		n, err := c.scheduler.counts.count(a.ID, s.from, s.to, s.allowed, stored, func() (int, error) {
			return c.scheduler.Store.CountPlanned(ctx, p.WorkspaceID, a.ID, s.from, s.to, allowed+countMargin)
		})
		if err != nil {
			return nil, err
		}
		n += others
		if n <= s.allowed {
			continue
		}
		var exactly, atLeast, left, per any // those that are not known are omitted
		if exactly = n; n >= allowed+countMargin {
			exactly, atLeast = nil, n
		}
		if s.allowed < allowed {
			left = max(s.allowed, 0)
		}
		if b.Per > 0 {
			per = b.Per
		}
		from, to := inZone(s.from, p.TimeZone).Round(time.Minute), inZone(s.to, p.TimeZone).Round(time.Minute)
		w := post.NewWarning(post.WarnQuota, a.ID,
			"[{posts|post is|posts are}][At least {at_least} posts are] scheduled to {handle} from {from_at} to "+
				"{to_at}; {by} allows {limit}[ in {per_seconds}][, of which {left} are left]. The rest will be "+
				"published later.",
			exactly, atLeast, a.Handle, from, to, known.AllowedBy, allowed, per, left)
		return &w, nil
	}
	return nil, nil
}

// quotaWindows returns the periods that contain a time: the fixed window of the network
// or, for a sliding limit, the periods that end and begin at the time.
func quotaWindows(at, now time.Time, b ratelimit.Bucket, fixed bool, cost int) []quotaWindow {
	allowed := b.Limit / cost
	if b.Per <= 0 { // the network reported no period: only the window that runs is known
		if at.Before(now) || !at.Before(b.ResetAt) {
			return nil
		}
		return []quotaWindow{{now, b.ResetAt, b.Available(now) / cost}}
	}
	if !fixed {
		return []quotaWindow{
			{at, at.Add(b.Per), allowed}, {at.Add(-b.Per).Add(time.Microsecond), at.Add(time.Microsecond), allowed},
		}
	}
	base := time.Unix(0, 0).UTC()
	if !b.ResetAt.IsZero() {
		base = b.ResetAt
	}
	whole := at.Sub(base) / b.Per
	if at.Before(base) && base.Add(whole*b.Per).After(at) {
		whole--
	}
	s := quotaWindow{from: base.Add(whole * b.Per), allowed: allowed}
	s.to = s.from.Add(b.Per)
	if !s.from.After(now) && s.to.After(now) {
		s.allowed = b.Available(now) / cost
	}
	return []quotaWindow{s}
}

// bucketsTimeout limits how long a request waits for the forecast.
const bucketsTimeout = 300 * time.Millisecond

func (s *Scheduler) buckets(ctx context.Context, c ratelimit.Caller) []ratelimit.Bucket {
	if s.Rates == nil {
		return ratelimit.DeclaredBuckets(c)
	}
	asking, cancel := context.WithTimeout(ctx, bucketsTimeout)
	defer cancel()
	buckets, err := s.Rates.Buckets(asking, c)
	if err == nil {
		return buckets
	}
	// A canceled request does not indicate a Redis failure, and each failure is logged once.
	if ctx.Err() == nil && !errors.Is(err, ratelimit.ErrUnavailable) {
		s.Log.WarnContext(ctx, "rate limits as they stand are not known", "error", err)
	}
	return ratelimit.DeclaredBuckets(c)
}

// Limits returns the state of an account's rate limits.
func (s *Scheduler) Limits(ctx context.Context, workspace, id uuid.UUID) ([]ratelimit.Bucket, error) {
	found, err := s.Store.AccountsByID(ctx, workspace, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, apperr.NotFound("account")
	}
	a := found[0]
	adapter, ok := s.Networks.Get(a.Network)
	if !ok {
		return nil, apperr.NotFound("account")
	}
	known, err := newLookup(s, workspace).limits(ctx, adapter, a)
	if err != nil {
		return nil, err
	}
	buckets := s.buckets(ctx, ratelimit.Caller{
		Network: a.Network, BaseURL: a.BaseURL, RemoteID: a.RemoteID, Quotas: known.Quotas,
	})
	// Omit buckets without any known value.
	return slices.DeleteFunc(buckets, func(b ratelimit.Bucket) bool { return b.Limit == 0 && b.ClosedUntil.IsZero() }),
		nil
}
