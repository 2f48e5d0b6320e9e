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

// groupKey are what the hits of a group have in common.
type groupKey struct {
	recordHeader
	epochLength int64
	epoch       int64
	slot        int64
	window      int64
}

const (
	filtered = 'f' // the letter of hits that were refused
	noMethod = '-' // and their way
)

// tracksVisitors says whether single visitors are told apart by these hits.
func (s groupKey) tracksVisitors() bool {
	return s.kind == View.letter() && s.method != HyperLogLog.letter()
}

// hitBatch is what one call of Count or of the batcher counts.
type hitBatch struct {
	counter *Counter
	now     time.Time
	hits    int
	reasons map[string]int // of the hits that were refused
	calls   []*shardCall
	open    map[int]*shardCall // by shard; 0 for all where one node has them all
}

// shardCall is one script call in the making.
type shardCall struct {
	tag     string // of the shard that remembers the visits
	needsID bool   // a resend is not known by its fingerprints
	groups  []*hitGroup
	hits    int
}

type hitGroup struct {
	key  groupKey
	hits []int // which of the batch's they are
	log  logEncoder
	// What the script is to know of each.
	fingerprints, octalHashes, pageIndexes []byte
	visitors                               []any
}

func (c *Counter) newBatch() *hitBatch {
	return &hitBatch{counter: c, now: c.options.Now(), open: map[int]*shardCall{}}
}

// siteTime is a point in time on a site's clock.
type siteTime struct {
	unix     int64
	quarters int64 // start of the hour
	day      Day
}

// clampedTime is when a hit happened: by the site's clock, and never in the future.
func (b *hitBatch) clampedTime(at time.Time, zone *time.Location) siteTime {
	if at.After(b.now) {
		at = b.now
	}
	return siteTimeOf(at, zone)
}

func siteTimeOf(at time.Time, zone *time.Location) siteTime {
	if zone == nil {
		zone = time.UTC
	}
	unix := max(at.Unix(), 0)
	_, offset := at.In(zone).Zone()
	local := unix + int64(offset)
	return siteTime{unix: unix, quarters: (unix - local%3600) / quarterSeconds, day: Day(local / 86400)} //nolint:gosec // days fit for millions of years
}

// add puts a hit that Check accepts into the batch.
func (b *hitBatch) add(h *Hit) {
	m := b.clampedTime(h.At, h.Site.Zone)
	s := groupKey{recordHeader: recordHeader{h.Kind.letter(), h.Site.UniqueMethod.letter(), m.quarters, m.day}, epochLength: epochLengthFor(h.Site.Window)}
	slots := s.epochLength / slotsPerEpoch
	s.epoch, s.slot = m.unix/s.epochLength, m.unix/slots%128
	s.window = -1
	if h.Site.Window > 0 {
		s.window = (int64(h.Site.Window/time.Second) + slots - 1) / slots
	}
	sum := hashPage(h.Site.ID, h.Page)
	shard := shardOf(sum, b.counter.options.Shards)
	call := b.callFor(shard)
	call.needsID = call.needsID || s.window < 0
	g := call.groupFor(s, b.hits)
	by := hashVisit(h.Site.ID, h.Page, h.Kind, h.Visitor.Hash)
	page := g.log.page(sum, shard, h.Site.ID, h.Page)
	g.pageIndexes = append(g.pageIndexes, byte(page+1))                            //nolint:gosec // at most mostHits
	g.fingerprints = binary.BigEndian.AppendUint32(g.fingerprints, uint32(by>>32)) //nolint:gosec // the upper half
	g.octalHashes = appendOctal(g.octalHashes, by)
	r := record{unix: m.unix}
	if h.Kind == View {
		r.country, r.device, r.referrer, r.visitor = normalizeCountry(h.Country), normalizeDevice(h.Device), normalizeReferrer(h.Referrer), h.Visitor.Hash
	}
	g.log.add(s.recordHeader, page, r)
	switch {
	case !s.tracksVisitors():
	case h.Site.UniqueMethod == Bitmap:
		g.visitors = append(g.visitors, h.Visitor.ID)
	default:
		g.visitors = append(g.visitors, int64(h.Visitor.Hash)) //nolint:gosec // a set of signed integers is the smallest
	}
	b.hits++
}

func (b *hitBatch) addFiltered(h *FilteredHit) {
	m := b.clampedTime(h.At, h.Site.Zone)
	sum := hashPage(h.Site.ID, h.Page)
	shard := shardOf(sum, b.counter.options.Shards)
	r := record{unix: m.unix, reason: normalizeReason(h.Reason)}
	if b.reasons == nil {
		b.reasons = map[string]int{}
	}
	b.reasons[r.reason]++
	call := b.callFor(shard)
	call.needsID = true
	s := groupKey{recordHeader: recordHeader{filtered, noMethod, m.quarters, m.day}}
	g := call.groupFor(s, b.hits)
	g.log.add(s.recordHeader, g.log.page(sum, shard, h.Site.ID, h.Page), r)
	b.hits++
}

// callFor is the script call that takes the next hit of a shard.
func (b *hitBatch) callFor(shard int) *shardCall {
	// Where one node has all shards, what is known of the last hours' visitors
	// lies together: a call looks it up at once. That is all that is forgotten
	// when one node becomes a cluster.
	at := 0
	if b.counter.isCluster {
		at = shard
	}
	call := b.open[at]
	if call == nil || call.hits == maxHitsPerCall {
		call = &shardCall{tag: tag(at)}
		b.open[at] = call
		b.calls = append(b.calls, call)
	}
	return call
}

// groupFor is the one that takes the next hit. It keeps the order of hits that
// have their settings in common; others do not touch what they count.
func (c *shardCall) groupFor(s groupKey, hit int) *hitGroup {
	c.hits++
	for _, g := range c.groups {
		if g.key == s {
			g.hits = append(g.hits, hit)
			return g
		}
	}
	g := &hitGroup{key: s, hits: []int{hit}}
	c.groups = append(c.groups, g)
	return g
}

const slotsPerEpoch = 60

// epochLengthFor is how many seconds of visits lie together, for a window: at
// least the hour of the funnel, in whole slots.
func epochLengthFor(window time.Duration) int64 {
	seconds := max(int64(window/time.Second), 3600)
	return (seconds + slotsPerEpoch - 1) / slotsPerEpoch * slotsPerEpoch
}

func (c *shardCall) args() []any {
	args := make([]any, 0, 1+17*len(c.groups)+2*c.hits)
	id := ""
	if c.needsID {
		id = c.tag + "did:" + uuid.NewString()
	}
	args = append(args, id)
	for _, g := range c.groups {
		s := g.key
		args = append(args, string(rune(s.kind)), len(g.hits), g.log.encode(s.recordHeader))
		if s.kind == filtered {
			continue
		}
		var way, day, week, month, earlier string
		if s.kind == View.letter() {
			way, day, week = string(rune(s.method)), dayKey(s.day, s.method), weekKey(s.day, s.method)
			month, earlier = halfMonthKey(s.day, s.method), halfMonthKey(s.day-halfMonth, s.method)
		}
		// A stretch is of use until the next one is over.
		args = append(args, way, c.epochKey(s, 0), c.epochKey(s, -1), 2*s.epochLength+60, s.slot, s.window, day, week, month, earlier,
			g.fingerprints, g.octalHashes, g.pageIndexes, len(g.log.pages))
		for _, page := range g.log.pages {
			args = append(args, page.hash)
		}
		args = append(args, g.visitors...)
	}
	return args
}

// epochKey is what the keys of a stretch begin with.
func (c *shardCall) epochKey(s groupKey, later int64) string {
	return c.tag + "d" + strconv.FormatInt(s.epochLength, 10) + ":" + strconv.FormatInt(s.epoch+later, 10) + ":"
}

// send counts the batch.
func (b *hitBatch) send(ctx context.Context) ([]Outcome, error) {
	calls := make([]scriptCall, len(b.calls))
	for i, call := range b.calls {
		calls[i] = scriptCall{call.tag + "log", call.args()}
	}
	cmds, err := b.counter.runScripts(ctx, b.counter.countScript, calls)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	outcomes := make([]Outcome, b.hits)
	for i, cmd := range cmds {
		answers, err := parseReplies(cmd)
		if err != nil || len(answers) != b.calls[i].hits {
			return nil, fmt.Errorf("count: %w", errors.Join(errBadReply, err))
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

// parseReplies reads numbers, or the text of them that is kept for a resend.
func parseReplies(cmd *redis.Cmd) ([]int64, error) {
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
