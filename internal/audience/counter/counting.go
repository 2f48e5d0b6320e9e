package counter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// settings are what the hits of a group have in common.
type settings struct {
	heading
	class   int64
	stretch int64
	slot    int64
	window  int64
}

const (
	filtered = 'f' // the letter of hits that were refused
	noWay    = '-' // and their way
)

// tells says whether single visitors are told apart by these hits.
func (s settings) tells() bool {
	return s.kind == View.letter() && s.way != HyperLogLog.letter()
}

// oneBatch is what one call of Count or of the batcher counts.
type oneBatch struct {
	counter *Counter
	now     time.Time
	hits    int
	reasons map[string]int // of the hits that were refused
	calls   []*callOf
	open    map[int]*callOf // by shard; 0 for all where one node has them all
}

// callOf is one script call in the making.
type callOf struct {
	tag    string // of the shard that remembers the visits
	id     bool   // a resend is not known by its fingerprints
	groups []*group
	hits   int
}

type group struct {
	settings settings
	hits     []int // which of the batch's they are
	log      logging
	// What the script is to know of each.
	prints, octal, pageOf []byte
	visitors              []any
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
	s := settings{heading: heading{h.Kind.letter(), h.Site.Uniques.letter(), m.quarters, m.day}, class: stretchLength(h.Site.Window)}
	slots := s.class / slotsOfStretch
	s.stretch, s.slot = m.unix/s.class, m.unix/slots%128
	s.window = -1
	if h.Site.Window > 0 {
		s.window = (int64(h.Site.Window/time.Second) + slots - 1) / slots
	}
	sum := pageSum(h.Site.ID, h.Page)
	shard := shardOf(sum, b.counter.options.Shards)
	call := b.call(shard)
	call.id = call.id || s.window < 0
	g := call.group(s, b.hits)
	by := visit(h.Site.ID, h.Page, h.Kind, h.Visitor.Hash)
	page := g.log.page(sum, shard, h.Site.ID, h.Page)
	g.pageOf = append(g.pageOf, byte(page+1))                          //nolint:gosec // at most mostHits
	g.prints = binary.BigEndian.AppendUint32(g.prints, uint32(by>>32)) //nolint:gosec // the upper half
	g.octal = appendOctal(g.octal, by)
	r := record{unix: m.unix}
	if h.Kind == View {
		r.country, r.device, r.referrer, r.visitor = country(h.Country), device(h.Device), referrer(h.Referrer), h.Visitor.Hash
	}
	g.log.add(s.heading, page, r)
	switch {
	case !s.tells():
	case h.Site.Uniques == Bitmap:
		g.visitors = append(g.visitors, h.Visitor.ID)
	default:
		g.visitors = append(g.visitors, int64(h.Visitor.Hash)) //nolint:gosec // a set of signed integers is the smallest
	}
	b.hits++
}

func (b *oneBatch) addFiltered(h *FilteredHit) {
	m := b.at(h.At, h.Site.Zone)
	sum := pageSum(h.Site.ID, h.Page)
	shard := shardOf(sum, b.counter.options.Shards)
	r := record{unix: m.unix, reason: reason(h.Reason)}
	if b.reasons == nil {
		b.reasons = map[string]int{}
	}
	b.reasons[r.reason]++
	call := b.call(shard)
	call.id = true
	s := settings{heading: heading{filtered, noWay, m.quarters, m.day}}
	g := call.group(s, b.hits)
	g.log.add(s.heading, g.log.page(sum, shard, h.Site.ID, h.Page), r)
	b.hits++
}

// call is the script call that takes the next hit of a shard.
func (b *oneBatch) call(shard int) *callOf {
	// Where one node has all shards, what is known of the last hours' visitors
	// lies together: a call looks it up at once. That is all that is forgotten
	// when one node becomes a cluster.
	at := 0
	if b.counter.spread {
		at = shard
	}
	call := b.open[at]
	if call == nil || call.hits == mostHits {
		call = &callOf{tag: tag(at)}
		b.open[at] = call
		b.calls = append(b.calls, call)
	}
	return call
}

// group is the one that takes the next hit. It keeps the order of hits that
// have their settings in common; others do not touch what they count.
func (c *callOf) group(s settings, hit int) *group {
	c.hits++
	for _, g := range c.groups {
		if g.settings == s {
			g.hits = append(g.hits, hit)
			return g
		}
	}
	g := &group{settings: s, hits: []int{hit}}
	c.groups = append(c.groups, g)
	return g
}

const slotsOfStretch = 60

// stretchLength is how many seconds of visits lie together, for a window: at
// least the hour of the funnel, in whole slots.
func stretchLength(window time.Duration) int64 {
	seconds := max(int64(window/time.Second), 3600)
	return (seconds + slotsOfStretch - 1) / slotsOfStretch * slotsOfStretch
}

func (c *callOf) args() []any {
	args := make([]any, 0, 1+17*len(c.groups)+2*c.hits)
	id := ""
	if c.id {
		id = c.tag + "did:" + uuid.NewString()
	}
	args = append(args, id)
	for _, g := range c.groups {
		s := g.settings
		args = append(args, string(rune(s.kind)), len(g.hits), g.log.encode(s.heading))
		if s.kind == filtered {
			continue
		}
		var way, day, week, month, earlier string
		if s.kind == View.letter() {
			way, day, week = string(rune(s.way)), dayKey(s.day, s.way), weekKey(s.day, s.way)
			month, earlier = halfMonthKey(s.day, s.way), halfMonthKey(s.day-halfMonth, s.way)
		}
		// A stretch is of use until the next one is over.
		args = append(args, way, c.stretch(s, 0), c.stretch(s, -1), 2*s.class+60, s.slot, s.window, day, week, month, earlier,
			g.prints, g.octal, g.pageOf, len(g.log.pages))
		for _, page := range g.log.pages {
			args = append(args, page.hash)
		}
		args = append(args, g.visitors...)
	}
	return args
}

// stretch is what the keys of a stretch begin with.
func (c *callOf) stretch(s settings, later int64) string {
	return c.tag + "d" + strconv.FormatInt(s.class, 10) + ":" + strconv.FormatInt(s.stretch+later, 10) + ":"
}

// send counts the batch.
func (b *oneBatch) send(ctx context.Context) ([]Outcome, error) {
	calls := make([]scriptCall, len(b.calls))
	for i, call := range b.calls {
		calls[i] = scriptCall{call.tag + "log", call.args()}
	}
	cmds, err := b.counter.runAll(ctx, b.counter.count, calls)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	outcomes := make([]Outcome, b.hits)
	for i, cmd := range cmds {
		answers, err := answersOf(cmd)
		if err != nil || len(answers) != b.calls[i].hits {
			return nil, fmt.Errorf("count: %w", errors.Join(errAnswer, err))
		}
		for _, g := range b.calls[i].groups {
			for at, hit := range g.hits {
				n := answers[at]
				outcomes[hit] = Outcome{Counted: n&1 != 0, New: n&2 != 0, Total: n >> 2}
			}
			answers = answers[len(g.hits):]
		}
	}
	return outcomes, nil
}

// answersOf reads numbers, or the text of them that is kept for a resend.
func answersOf(cmd *redis.Cmd) ([]int64, error) {
	var text string
	switch answer := cmd.Val().(type) {
	case int64: // miniredis answers one number so
		return []int64{answer}, nil
	case string:
		text = answer
	default:
		return cmd.Int64Slice()
	}
	words := strings.Fields(text)
	answers := make([]int64, len(words))
	for i, word := range words {
		var err error
		if answers[i], err = strconv.ParseInt(word, 10, 64); err != nil {
			return nil, err
		}
	}
	return answers, nil
}
