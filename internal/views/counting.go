package views

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// settings are what the hits of a group have in common.
type settings struct {
	kind    byte // a Kind's letter, or filtered
	way     byte // 0: no uniques
	class   int64
	stretch int64
	slot    int64
	window  int64
	day     Day
}

// filtered is the letter of hits that were refused.
const filtered = 'f'

// oneBatch is what one call of Count or of the batcher counts.
type oneBatch struct {
	counter *Counter
	now     time.Time
	hits    int
	calls   []*callOf
	open    map[int]*callOf // by shard; 0 for all where one node has them all
}

// callOf is one script call in the making.
type callOf struct {
	key    string
	id     bool // a resend is not known by its fingerprints
	groups []group
	hits   int
}

type group struct {
	settings settings
	args     []any
	hits     []int // which of the batch's they are
}

func (c *Counter) newBatch() *oneBatch {
	return &oneBatch{counter: c, now: c.options.Now(), open: map[int]*callOf{}}
}

// moment is a point in time on a site's clock.
type moment struct {
	unix     int64
	quarters int64 // start of the hour
	day      Day
}

// at is when a hit happened: by the site's clock, and never in the future.
func (b *oneBatch) at(at time.Time, zone *time.Location) moment {
	if at.After(b.now) {
		at = b.now
	}
	return momentOf(at, zone)
}

func momentOf(at time.Time, zone *time.Location) moment {
	if zone == nil {
		zone = time.UTC
	}
	unix := max(at.Unix(), 0)
	_, offset := at.In(zone).Zone()
	local := unix + int64(offset)
	return moment{unix: unix, quarters: (unix - local%3600) / quarter, day: Day(local / 86400)} //nolint:gosec // days fit for millions of years
}

// add puts a hit that Check accepts into the batch.
func (b *oneBatch) add(h *Hit) {
	m := b.at(h.At, h.Site.Zone)
	s := settings{kind: h.Kind.letter(), class: stretchLength(h.Site.Window), day: m.day}
	var visitor any = ""
	if h.Kind == View {
		s.way = h.Site.Uniques.letter()
		visitor = int64(h.Visitor.Hash) //nolint:gosec // a set of signed integers is the smallest
		if h.Site.Uniques == Bitmap {
			visitor = h.Visitor.ID
		}
	}
	record := record{kind: s.kind, way: h.Site.Uniques.letter(), moment: m}
	if s.way == HyperLogLog.letter() {
		// It cannot tell who is new: its visitors can wait for the fold.
		visitor, record.visitor = "", h.Visitor.Hash
	}
	slots := s.class / slotsOfStretch
	s.stretch, s.slot = m.unix/s.class, m.unix/slots%128
	s.window = -1
	if h.Site.Window > 0 {
		s.window = (int64(h.Site.Window/time.Second) + slots - 1) / slots
	}
	if h.Kind == View {
		record.country, record.device, record.referrer = country(h.Country), device(h.Device), referrer(h.Referrer)
	}
	shard := b.counter.Shard(h.Site.ID, h.Page)
	call := b.call(shard)
	call.id = call.id || s.window < 0
	call.add(s, b.hits, pageKey(shard, h.Site.ID, h.Page), record.encode(),
		fingerprint(visit(h.Site.ID, h.Page, h.Kind, h.Visitor.Hash)), visitor)
	b.hits++
}

func (b *oneBatch) addFiltered(h *FilteredHit) {
	m := b.at(h.At, h.Site.Zone)
	record := record{kind: filtered, way: '-', moment: m, reason: reason(h.Reason)}
	shard := b.counter.Shard(h.Site.ID, h.Page)
	call := b.call(shard)
	call.id = true
	call.add(settings{kind: filtered}, b.hits, pageKey(shard, h.Site.ID, h.Page), record.encode(), "", "")
	b.hits++
}

// call is the script call that takes the next hit of a shard.
func (b *oneBatch) call(shard int) *callOf {
	slot := 0
	if b.counter.spread {
		slot = shard
	}
	call := b.open[slot]
	if call == nil || call.hits == mostHits {
		call = &callOf{key: tag(shard) + "log"}
		b.open[slot] = call
		b.calls = append(b.calls, call)
	}
	return call
}

// add keeps the order of hits that have their settings in common; others do
// not touch what they count.
func (c *callOf) add(s settings, hit int, args ...any) {
	c.hits++
	for i := range c.groups {
		if c.groups[i].settings == s {
			c.groups[i].args = append(c.groups[i].args, args...)
			c.groups[i].hits = append(c.groups[i].hits, hit)
			return
		}
	}
	c.groups = append(c.groups, group{settings: s, args: args, hits: []int{hit}})
}

const slotsOfStretch = 60

// stretchLength is how many seconds of visits lie together, for a window: at
// least the hour of the funnel, in whole slots.
func stretchLength(window time.Duration) int64 {
	seconds := max(int64(window/time.Second), 3600)
	return (seconds + slotsOfStretch - 1) / slotsOfStretch * slotsOfStretch
}

func (c *callOf) args(where string) []any {
	args := make([]any, 0, 1+11*len(c.groups)+4*c.hits)
	id := ""
	if c.id {
		id = c.key[:tagLength] + "did:" + uuid.NewString()
	}
	args = append(args, id)
	for _, g := range c.groups {
		s := g.settings
		var way, day, week, all string
		if s.way != 0 {
			way, day, week, all = string(s.way), dayKey(s.day, s.way), weekKey(s.day, s.way), allTimeKey(s.way)
		}
		args = append(args, string(s.kind), way, where, s.class, s.stretch, s.slot, s.window, day, week, all, len(g.hits))
		args = append(args, g.args...)
	}
	return args
}

// run counts the batch.
func (b *oneBatch) run(ctx context.Context) ([]Outcome, error) {
	if b.hits == 0 {
		return nil, nil
	}
	// Where one node has all shards, what is known of the last hour's visitors
	// lies together: a call looks up once how it is divided. That hour is all
	// that is forgotten when one node becomes a cluster.
	where := tag(0)
	if b.counter.spread {
		where = ""
	}
	calls := make([]scriptCall, len(b.calls))
	for i, call := range b.calls {
		calls[i] = scriptCall{call.key, call.args(where)}
	}
	cmds, err := b.counter.runAll(ctx, b.counter.count, calls)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	outcomes := make([]Outcome, b.hits)
	for i, cmd := range cmds {
		answer, err := cmd.Text()
		if err != nil {
			return nil, fmt.Errorf("count: %w", err)
		}
		for _, g := range b.calls[i].groups {
			for _, hit := range g.hits {
				var word string
				word, answer, _ = strings.Cut(answer, " ")
				n, err := strconv.ParseInt(word, 10, 64)
				if err != nil {
					return nil, errAnswer
				}
				outcomes[hit] = Outcome{Counted: n&1 != 0, New: n&2 != 0, Total: n >> 2}
			}
		}
	}
	return outcomes, nil
}
