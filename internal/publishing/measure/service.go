package measure

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

const (
	// DefaultShare is the percentage of rate limits that reading may use.
	DefaultShare = 30

	maxAge = 91 * 24 * time.Hour // of posts that are read, a day more than the last reading
	// newPostAge is the age of posts that most runs of Due look at. The first run of an
	// hour looks at all, which are millions in a large installation: posts of accounts
	// that were not read before.
	newPostAge    = 3 * time.Hour
	maxAccounts   = 500 // per run of Due
	claimLimit    = 100 // readings
	claimDuration = 10 * time.Minute
	maxClaims     = 50 // per run

	// confirmAfter is the time between the two readings that confirm a deletion.
	confirmAfter = 10 * time.Minute
	// maxPause is how long reading waits for bursts of posts, per claim.
	maxPause  = 10 * time.Second
	pauseStep = 100 * time.Millisecond
	// refusedFor is how long a metric that the network refused is not requested.
	refusedFor = 7 * 24 * time.Hour
)

// Service reads the metrics of accounts.
type Service struct {
	Store    Store
	Accounts Accounts
	Networks Networks
	Limits   Limits // nil: no limits
	Meter    Meter  // nil: nothing is counted
	Bursts   Bursts // nil: reading does not wait for any
	Share    int    // percent of rate limits; 0: nothing is read
	// Sandbox returns the URL of a network's fake, whose posts are also read in their first minutes, so
	// that those who try it see numbers. nil: there is no sandbox.
	Sandbox func(network string) string
	Now     func() time.Time
	Log     *slog.Logger
}

// SettingReads is the account setting with the budget on networks that charge for
// reads: posts per month.
const SettingReads = "metric_reads_per_month"

// networks returns those that report metrics.
func (s *Service) networks() []string {
	var names []string
	for _, name := range s.Networks.Names() {
		if _, ok := s.Networks.Measurer(name); ok {
			names = append(names, name)
		}
	}
	return names
}

// Due schedules readings of new posts, and lists the accounts with due readings.
func (s *Service) Due(ctx context.Context) ([]uuid.UUID, error) {
	if s.Share <= 0 {
		return nil, nil
	}
	now, networks, age := s.Now(), s.networks(), newPostAge
	if now.Minute() == 0 {
		age = maxAge
	}
	if _, err := s.Store.AddMeasuredPosts(ctx, networks, s.sandboxes(), now.Add(-age)); err != nil {
		return nil, err
	}
	return s.Store.AccountsToMeasure(ctx, networks, now, maxAccounts)
}

// sandboxReadings are the ages at which posts in the sandbox are read besides those of their network.
func sandboxReadings() []time.Duration {
	return []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute}
}

// sandboxes returns the URLs of the fake networks.
func (s *Service) sandboxes() (urls []string) {
	if s.Sandbox == nil {
		return nil
	}
	for _, name := range s.networks() {
		if url := s.Sandbox(name); url != "" {
			urls = append(urls, url)
		}
	}
	return urls
}

// rules returns how a post of the account is read.
func (r *run) rules(p network.PostRef) network.MeasureRules {
	rules := r.measurer.MeasureRules(r.account, p)
	if url := r.stored.BaseURL; url != "" && len(rules.Readings) > 0 && slices.Contains(r.sandboxes(), url) {
		if len(rules.Insights) > 0 {
			rules.Insights = slices.Concat(sandboxReadings(), rules.Insights)
		}
		rules.Readings = slices.Concat(sandboxReadings(), rules.Readings)
		slices.Sort(rules.Readings)
	}
	return rules
}

// Summary describes a run.
type Summary struct {
	Read   int // posts
	Reason Reason
}

// run reads the posts of one account.
type run struct {
	*Service

	measurer network.Measurer
	stored   account.Account
	account  network.Account
	status   Status
	claim    uuid.UUID
	renewed  bool
	read     int
	paused   time.Duration // for bursts, since the last claim
}

// MeasureAccount reads the posts of an account that are due. Errors of the network are
// recorded in the account's Status.
func (s *Service) MeasureAccount(ctx context.Context, id uuid.UUID, heartbeat func()) (Summary, error) {
	stored, opened, err := s.Accounts.Open(ctx, id)
	if err != nil {
		return Summary{}, err
	}
	measurer, ok := s.Networks.Measurer(stored.Network)
	if !ok || stored.Status != account.Connected || s.Share <= 0 {
		return Summary{}, nil
	}
	status, err := s.Store.MeasuringStatus(ctx, id)
	if err != nil {
		return Summary{}, err
	}
	r := &run{Service: s, measurer: measurer, stored: stored, account: opened, status: status, claim: uuid.New()}
	r.status.AccountID, r.status.Settings = id, stored.Settings
	if status.TokenVersion != stored.TokenVersion {
		r.status.MissingScope = ""
	}
	r.status.TokenVersion = stored.TokenVersion
	r.status.Reason, r.status.Message, r.status.ResumeAt = "", "", time.Time{}
	err = r.readAll(ctx, heartbeat)
	// What the run did not read must not wait for the end of its claim, and charges are
	// counted whatever ended the run.
	after := context.WithoutCancel(ctx)
	err = errors.Join(err, s.Store.ReleaseReadings(after, id, r.claim), s.Store.SaveMeasuringStatus(after, r.status))
	if r.status.Reason != "" {
		s.Log.InfoContext(ctx, "metrics are not read", "account_id", id, "network", stored.Network, "reason",
			r.status.Reason, "until", r.status.ResumeAt)
		if s.Meter != nil {
			s.Meter.MeasuringPaused(ctx, stored.Network, string(r.status.Reason))
		}
	}
	return Summary{Read: r.read, Reason: r.status.Reason}, err
}

// readAll claims and reads until nothing is due or reading is paused.
func (r *run) readAll(ctx context.Context, heartbeat func()) error {
	if err := r.renewSoon(ctx); err != nil {
		return err
	}
	for range maxClaims {
		if r.status.Reason != "" || ctx.Err() != nil {
			return ctx.Err()
		}
		r.paused = 0
		if err := r.awaitBurst(ctx); err != nil {
			return err
		}
		now := r.Now()
		due, err := r.Store.ClaimReadings(ctx, r.stored.ID, r.claim, now, now.Add(claimDuration), claimLimit)
		if err != nil || len(due) == 0 {
			return err
		}
		heartbeat()
		if err := r.readDue(ctx, due, now); err != nil {
			return err
		}
	}
	return nil
}

// renewSoon renews a token that is about to expire.
func (r *run) renewSoon(ctx context.Context) error {
	now := r.Now()
	if !r.stored.NeedsRenewal(now, now) {
		return nil
	}
	return r.renew(ctx)
}

// renew renews the token. If that is not possible, the network's refusal decides.
func (r *run) renew(ctx context.Context) error {
	r.renewed = true
	renewal, err := r.Accounts.Renew(ctx, r.stored.ID, r.stored.TokenVersion)
	if err != nil || renewal.Outcome != account.Renewed {
		return err
	}
	r.stored, r.account, err = r.Accounts.Open(ctx, r.stored.ID)
	r.status.TokenVersion = r.stored.TokenVersion
	return err
}

// readDue reads claimed posts in batches. Those that need no call are recorded first.
func (r *run) readDue(ctx context.Context, due []Reading, now time.Time) error {
	var skipped []Result
	var batch []Reading
	size := claimLimit
	for _, d := range due {
		rules := r.rules(d.ref(now, network.MeasureRules{}))
		if result, skip := d.skip(rules, now); skip {
			skipped = append(skipped, result)
			continue
		}
		size = min(size, max(rules.Batch, 1))
		batch = append(batch, d)
	}
	if len(skipped) > 0 {
		if err := r.Store.RecordReadings(ctx, r.stored.ID, r.claim, skipped); err != nil {
			return err
		}
	}
	for len(batch) > 0 && r.status.Reason == "" {
		n := min(size, len(batch))
		part := batch[:n]
		batch = batch[n:]
		part = r.withinBudget(part, now)
		if len(part) == 0 {
			return nil
		}
		if err := r.awaitBurst(ctx); err != nil {
			return err
		}
		if err := r.readBatch(ctx, part, now); err != nil {
			return err
		}
	}
	return nil
}

// awaitBurst waits while many posts are about to be sent: recording what was read would
// delay them. A steady stream of posts does not stop reading.
func (r *run) awaitBurst(ctx context.Context) error {
	for r.Bursts != nil && r.paused < maxPause && r.Bursts.IsBurstNear(r.Now()) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pauseStep):
			r.paused += pauseStep
		}
	}
	return nil
}

// withinBudget returns the posts that the budget of a network that charges allows. A
// post is charged once per UTC day.
func (r *run) withinBudget(part []Reading, now time.Time) []Reading {
	if rules := r.rules(network.PostRef{}); !rules.Paid {
		return part
	}
	budget, _ := strconv.Atoi(r.account.Settings[SettingReads])
	month := time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	if !r.status.ChargedMonth.Equal(month) {
		r.status.ChargedMonth, r.status.ChargedReads = month, 0
	}
	if budget <= 0 {
		r.pause(ReasonNoBudget, "This network charges for reading metrics. Set a budget for the account to read them.",
			now.AddDate(1, 0, 0))
		return nil
	}
	today, left := day(now), budget-r.status.ChargedReads
	var allowed []Reading
	for _, d := range part {
		if !d.ChargedOn.Equal(today) {
			if left <= 0 {
				continue
			}
			left--
		}
		allowed = append(allowed, d)
	}
	if len(allowed) == 0 {
		r.pause(ReasonBudgetUsed, "The account's budget for metrics is used up for this month.", month.AddDate(0, 1, 0))
	}
	return allowed
}

func (r *run) pause(reason Reason, message string, until time.Time) {
	r.status.Reason, r.status.Message, r.status.ResumeAt = reason, message, until
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func (r *run) caller(rules network.MeasureRules) ratelimit.Caller {
	return ratelimit.Caller{
		Network: r.stored.Network, BaseURL: r.account.BaseURL, RemoteID: r.account.RemoteID,
		Quotas: []network.Quota{rules.Quota},
	}
}
