package counter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Engaged time is stored as a histogram of EngagedBuckets buckets, whose bounds
// grow geometrically from a second to MaxEngaged.
const (
	EngagedBuckets = 24
	MaxEngaged     = 30 * time.Minute
)

// engagedRatio returns the ratio of the bounds of a bucket.
func engagedRatio() float64 { return math.Pow(MaxEngaged.Seconds(), 1.0/EngagedBuckets) }

// ScrollSteps is the number of scroll depths that are counted: 25, 50, 75 and
// 100 %.
const ScrollSteps = 4

// EngagementDelta is the increment of the engagement of a page's views of a day.
// Both counts are cumulative, so that they only grow: a view that moves to a
// higher bucket is added to the buckets in between, and stays in the lower ones.
type EngagementDelta struct {
	Day Day // of the views
	// Views engaged for at least the lower bound of the bucket; the first counts all that sent a heartbeat
	Engaged  [EngagedBuckets]int64
	Scrolled [ScrollSteps]int64 // views scrolled at least to the step
}

// Add adds another increment.
func (e *EngagementDelta) Add(more *EngagementDelta) {
	for i, n := range more.Engaged {
		e.Engaged[i] += n
	}
	for i, n := range more.Scrolled {
		e.Scrolled[i] += n
	}
}

// Plus returns the sum of two increments, of which either may be nil.
func (e *EngagementDelta) Plus(more *EngagementDelta) *EngagementDelta {
	if e == nil || more == nil {
		if e == nil {
			return more
		}
		return e
	}
	sum := *e
	sum.Add(more)
	return &sum
}

// CompletionRate returns the share of views that were scrolled to the end.
func (e *EngagementDelta) CompletionRate() float64 {
	if e.Engaged[0] <= 0 {
		return 0
	}
	return float64(e.Scrolled[ScrollSteps-1]) / float64(e.Engaged[0])
}

// Median returns the median engaged time, interpolated within its bucket; 0
// without views.
func (e *EngagementDelta) Median() time.Duration {
	engaged := e.Engaged
	if engaged[0] <= 0 {
		return 0
	}
	half := float64(engaged[0]) / 2
	ratio := engagedRatio()
	for i := range engaged {
		above := int64(0)
		if i+1 < len(engaged) {
			above = engaged[i+1] //nolint:gosec // i+1 is in range
		}
		if float64(above) > half || engaged[i] == above {
			continue
		}
		// The share of the bucket's views below the median.
		within := (float64(engaged[i]) - half) / float64(engaged[i]-above)
		return time.Duration(math.Pow(ratio, float64(i)+within) * float64(time.Second))
	}
	return 0
}

// Heartbeat reports the progress of a view that counted. Its numbers are totals
// of the view, so lost and repeated heartbeats are harmless.
type Heartbeat struct {
	Site    Site
	Page    string
	View    string        // the random number of the view's hit
	Visitor Visitor       // whose visit becomes an engaged one; zero: unknown
	Link    string        // the code of the short link that opened the page
	Engaged time.Duration // how long the page was visible and focused and the reader active
	Scroll  int           // maximum scroll depth in percent
	Hidden  bool          // the reader left the page
	At      time.Time
}

// maxViewLength is the maximum length of a view's number in bytes.
const maxViewLength = 32

// ErrView reports that a heartbeat has no view.
var ErrView = errors.New("view must have 1 to 32 bytes")

func (h *Heartbeat) validate() error {
	switch {
	case h.Page == "" || len(h.Page) > maxPageLength:
		return ErrPage
	case h.View == "" || len(h.View) > maxViewLength:
		return ErrView
	}
	return nil
}

// Views in progress are stored by the quarter of an hour in which they began,
// and forgotten after three to four of them.
const (
	viewEpochLength = 900 // seconds
	viewEpochs      = 4
)

// heartbeatTTL is how long after its last heartbeat a view counts as being read.
const heartbeatTTL = 75 * time.Second

// appendViewKey appends the eight bytes under which a view in progress is
// stored.
func appendViewKey(b []byte, page uint64, view string) []byte {
	var d xxhash.Digest
	d.ResetWithSeed(page)
	_, _ = d.WriteString(view)
	return binary.BigEndian.AppendUint64(b, d.Sum64())
}

// appendViewState appends the state of a view that begins: the second within its
// epoch, in two bytes, engaged level * 5 + scroll level, and two bytes for its last
// heartbeat.
func appendViewState(b []byte, unix int64) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(unix%viewEpochLength)), 0, 0, 0) //nolint:gosec // less than 900
}

// engagedLevel returns the number of a duration's bucket, from 1.
func engagedLevel(d time.Duration) byte {
	if d < time.Second {
		return 1
	}
	return byte(min(math.Log(d.Seconds())/math.Log(engagedRatio()), EngagedBuckets-1)) + 1
}

// scrollLevel returns the number of steps that a depth in percent has reached.
func scrollLevel(percent int) byte { return byte(min(max(percent, 0), 100) / (100 / ScrollSteps)) } //nolint:gosec // at most ScrollSteps

// addHeartbeat adds a valid heartbeat to the batch.
func (b *hitBatch) addHeartbeat(h *Heartbeat) {
	m := b.clampedTime(h.At, h.Site.Zone)
	sum := hashPage(h.Site.ID, h.Page)
	shard := shardOf(sum, b.counter.options.Shards)
	s := groupKey{
		recordHeader: recordHeader{heartbeat, noMethod, m.quarters, m.day},
		viewEpoch:    m.unix / viewEpochLength,
		site:         h.Site.ID, midnight: m.day.StartIn(zoneOf(h.Site)).Unix(),
	}
	g := b.callFor(shard).groupFor(s, b.hits)
	g.views = appendViewKey(g.views, sum, h.View)
	hidden := byte('0')
	if h.Hidden {
		hidden = '1'
	}
	g.heartbeats = append(g.heartbeats, '0'+engagedLevel(h.Engaged), '0'+scrollLevel(h.Scroll), hidden)
	g.log.add(s.recordHeader, g.log.page(sum, shard, h.Site.ID, h.Page), record{
		unix: m.unix, link: truncateValue(h.Link),
	})
	b.hits++
	if h.Engaged >= EngagedVisitTime && h.Visitor.Hash != 0 {
		_, v := b.visitGroup(EngagedVisit, h.Site, h.Visitor, m)
		if !b.counter.isCluster { // the script has just read the view
			v.views = appendViewKey(v.views, sum, h.View)
		}
		v.log.add(v.key.recordHeader, v.log.page(sum, shard, h.Site.ID, h.Page), record{unix: m.unix})
	}
}

// progress is the progress of a view since its last heartbeat that counted.
type progress struct {
	engagedFrom, engagedTo byte // levels; 0: no heartbeat yet
	scrollFrom, scrollTo   byte
	daysAgo                Day // the day of the view, before the day of the heartbeat
}

// progressLength is the length of a heartbeat's flags: the fields of progress as
// one character each, which count.lua writes.
const progressLength = 5

func (p *progress) parse(flags string) error {
	p.engagedFrom, p.engagedTo, p.scrollFrom, p.scrollTo = flags[0]-'0', flags[1]-'0', flags[2]-'0', flags[3]-'0'
	p.daysAgo = Day(flags[4] - '0')
	switch {
	case p.engagedFrom > p.engagedTo || p.engagedTo > EngagedBuckets,
		p.scrollFrom > p.scrollTo || p.scrollTo > ScrollSteps,
		p.daysAgo > 1:
		return errLogEntry
	default:
		return nil
	}
}

func (p *progress) addTo(e *EngagementDelta) {
	for i := p.engagedFrom; i < p.engagedTo; i++ {
		e.Engaged[i]++
	}
	for i := p.scrollFrom; i < p.scrollTo; i++ {
		e.Scrolled[i]++
	}
}

// LinkEngagement is the increment of the engagement of the views that a short link
// opened.
type LinkEngagement struct {
	Link string // its code
	EngagementDelta
}

func (c *pageSummary) linkEngagementOf(link string, day Day) *EngagementDelta {
	for i := range c.links {
		if c.links[i].Link == link && c.links[i].Day == day {
			return &c.links[i].EngagementDelta
		}
	}
	c.links = append(c.links, LinkEngagement{link, EngagementDelta{Day: day}})
	return &c.links[len(c.links)-1].EngagementDelta
}

func (c *pageSummary) engagementOf(day Day) *EngagementDelta {
	for i := range c.engagement {
		if c.engagement[i].Day == day {
			return &c.engagement[i]
		}
	}
	c.engagement = append(c.engagement, EngagementDelta{Day: day})
	return &c.engagement[len(c.engagement)-1]
}

// Heartbeats records heartbeats in order and returns how many have a known view.
func (c *Counter) Heartbeats(ctx context.Context, all []Heartbeat) (known int, err error) {
	b := newBatch(c)
	for i := range all {
		if err := all[i].validate(); err != nil {
			return 0, fmt.Errorf("heartbeat %d: %w", i, err)
		}
		b.addHeartbeat(&all[i])
	}
	outcomes, err := b.run(ctx)
	for _, o := range outcomes {
		if o.Counted {
			known++
		}
	}
	return known, err
}

// viewShards returns the shards that store views in progress.
func (c *Counter) viewShards() []int {
	if c.isCluster {
		return c.allShards()
	}
	return []int{0}
}

// Concurrents returns the number of views of a site that are being read: with a
// heartbeat in the last 75 seconds and not hidden.
func (c *Counter) Concurrents(ctx context.Context, site uuid.UUID) (int64, error) {
	since := c.options.Now().Add(-heartbeatTTL).Unix()
	shards := c.viewShards()
	seconds := make([]*redis.MapStringStringCmd, len(shards))
	if _, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, shard := range shards {
			seconds[i] = p.HGetAll(ctx, siteKey(shard, site)+";reading")
		}
		return nil
	}); err != nil {
		return 0, fmt.Errorf("count the views being read: %w", err)
	}
	var sum int64
	for _, numbers := range seconds {
		for second, n := range numbers.Val() {
			if atoi(second) > since {
				sum += atoi(n)
			}
		}
	}
	return sum, nil
}

// EraseViewsInProgress forgets the views of a site that are in progress, so that
// their heartbeats don't count anymore.
func (c *Counter) EraseViewsInProgress(ctx context.Context, site uuid.UUID) error {
	now := c.options.Now().Unix()
	if _, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, shard := range c.viewShards() {
			key := siteKey(shard, site)
			p.Unlink(ctx, key+";reading")
			for ago := int64(-1); ago < viewEpochs; ago++ {
				p.Unlink(ctx, key+";w"+strconv.FormatInt(now/viewEpochLength-ago, 10))
			}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("erase the views in progress: %w", err)
	}
	return nil
}
