package counter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// groupKey holds the settings that the hits of a group share.
type groupKey struct {
	recordHeader
	epochLength int64
	epoch       int64
	slot        int64
	window      int64
	minute      int64     // of the hour, of page loads and engaged visits
	viewEpoch   int64     // in which the views of these hits began, if they send heartbeats
	site        uuid.UUID // of heartbeats
	midnight    int64     // of heartbeats: when their day began
}

const (
	filtered  = 'f' // letter of filtered hits
	heartbeat = 'h' // letter of heartbeats
	noMethod  = '-' // letter of their unique counting method
)

// tracksVisitors reports whether the script stores individual visitors of these
// hits.
func (s groupKey) tracksVisitors() bool {
	return s.isView() && s.method != HyperLogLog.letter()
}

// hitBatch is a number of hits that are counted in one round trip.
type hitBatch struct {
	counter *Counter
	now     time.Time
	hits    int
	reasons map[string]int // filtered hits
	events  int
	calls   []*shardCall
	open    map[int]*shardCall // by shard; without a cluster all are in call 0
	// A view and its visit are in different shards.
	separateVisits bool
	withoutVisits  bool // to measure what visits cost
}

// shardCall is a script call that is being built.
type shardCall struct {
	shard   int    // that stores the dedup epochs and the views in progress
	tag     string // of the shard
	needsID bool   // a resend would not be recognized as a duplicate
	groups  []*hitGroup
	hits    int
}

type hitGroup struct {
	key  groupKey
	hits []int // indexes in the batch
	log  logEncoder
	// Script arguments of the hits.
	entries, octalHashes, pageIndexes []byte      // entries: of visits, only their fingerprints
	siteViews                         []siteViews // views that send heartbeats
	views                             []byte      // of heartbeats and engaged visits: keys of the views
	heartbeats                        []byte
	visitors                          []any
}

// siteViews are views of a site that send heartbeats.
type siteViews struct {
	site  uuid.UUID
	hits  []byte // their indexes in the group, from 1
	views []byte // their keys and first states
}

// addView adds the view of the next hit of the group.
func (g *hitGroup) addView(site uuid.UUID, sum uint64, view string, unix int64) {
	at := slices.IndexFunc(g.siteViews, func(s siteViews) bool { return s.site == site })
	if at < 0 {
		at = len(g.siteViews)
		g.siteViews = append(g.siteViews, siteViews{site: site})
	}
	s := &g.siteViews[at]
	s.hits = append(s.hits, byte(len(g.hits))) //nolint:gosec // at most maxHitsPerCall
	s.views = appendViewState(appendViewKey(s.views, sum, view), unix)
}

func newBatch(c *Counter) *hitBatch {
	return &hitBatch{counter: c, now: c.options.Now(), open: map[int]*shardCall{}, separateVisits: c.isCluster}
}

// siteTime is an instant with its hour and day in a site's time zone.
type siteTime struct {
	unix     int64
	quarters int64 // start of the hour, in quarters of an hour since 1970
	day      Day
	hour     byte // of the day
}

// minute returns the minute of the hour.
func (t siteTime) minute() int64 { return (t.unix - t.quarters*quarterSeconds) / 60 }

// clampedTime returns the time of a hit, which is never in the future.
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
	return siteTime{
		unix: unix, quarters: (unix - local%3600) / quarterSeconds, day: Day(local / 86400), //nolint:gosec // days fit for millions of years
		hour: byte(local % 86400 / 3600), //nolint:gosec // days fit for millions of years
	}
}

// add adds a valid hit to the batch.
func (b *hitBatch) add(h *Hit) {
	m := b.clampedTime(h.At, h.Site.Zone)
	s := groupKey{
		recordHeader: recordHeader{h.Kind.letter(), h.Site.UniqueMethod.letter(), m.quarters, m.day},
		epochLength:  epochLengthFor(h.Site.Window),
	}
	slots := s.epochLength / slotsPerEpoch
	s.epoch, s.slot = m.unix/s.epochLength, m.unix/slots%128
	s.window = -1
	if h.Site.Window > 0 {
		s.window = (int64(h.Site.Window/time.Second) + slots - 1) / slots
	}
	hasHeartbeats := h.View != "" && h.Kind == View
	if hasHeartbeats {
		s.viewEpoch = m.unix / viewEpochLength
	}
	sum := hashPage(h.Site.ID, h.Page)
	shard := shardOf(sum, b.counter.options.Shards)
	isLoad := h.Kind == View && !b.separateVisits && !b.withoutVisits && s.epochLength == epochLengthFor(visitWindow)
	if isLoad {
		s.kind, s.minute = pageLoadKind(m.hour), m.minute()
	}
	call := b.callFor(shard)
	call.needsID = call.needsID || s.window < 0 || isLoad
	g := call.groupFor(s, b.hits)
	by := hashVisit(h.Site.ID, h.Page, h.Kind, h.Visitor.Hash)
	page := g.log.page(sum, shard, h.Site.ID, h.Page)
	g.pageIndexes = append(g.pageIndexes, byte(page+1))                  //nolint:gosec // at most maxHitsPerCall
	g.entries = appendEntry(g.entries, uint32(by>>32), s.slot+stepStamp) //nolint:gosec // the upper half
	visit := hashSiteVisit(h.Site.ID, h.Visitor)
	g.octalHashes = appendOctal(g.octalHashes, visit)
	if isLoad {
		g.entries = appendEntry(g.entries, visitFingerprint(visit), s.slot)
	}
	if hasHeartbeats {
		g.addView(h.Site.ID, sum, h.View, m.unix)
	}
	r := record{unix: m.unix}
	if h.Kind == View {
		r.country, r.device, r.referrer, r.visitor = normalizeCountry(h.Country), normalizeDevice(h.Device),
			normalizeReferrer(h.Referrer), h.Visitor.Hash
		if h.From != "" && h.From != h.Page && len(h.From) <= maxPageLength {
			from := hashPage(h.Site.ID, h.From)
			r.from = g.log.page(from, shardOf(from, b.counter.options.Shards), h.Site.ID, h.From) + 1
		}
		switch {
		case isLoad:
			r.setVisit(h)
		case !b.withoutVisits:
			b.addLoad(h, m, r)
		}
	}
	g.log.add(s.recordHeader, page, r)
	switch {
	case !s.tracksVisitors():
	case h.Site.UniqueMethod == Bitmap:
		g.visitors = append(g.visitors, h.Visitor.ID)
	default:
		g.visitors = append(g.visitors, int64(h.Visitor.Hash)) //nolint:gosec // Redis stores sets of signed integers compactly
	}
	b.hits++
}

// visitGroup returns the group for the next page load or engaged view of a visitor,
// with the visit added.
func (b *hitBatch) visitGroup(kind Kind, site Site, visitor Visitor, m siteTime) (*shardCall, *hitGroup) {
	visit := hashSiteVisit(site.ID, visitor)
	// The shard takes bits that neither the field nor the fingerprint use.
	call := b.callFor(shardOf(visit<<8>>32, b.counter.options.Shards))
	s := groupKey{
		recordHeader: recordHeader{kind.letter(), firstHour + m.hour, m.quarters, m.day},
		epochLength:  epochLengthFor(visitWindow),
	}
	s.epoch, s.slot, s.window = m.unix/s.epochLength, m.unix/60%128, int64(visitWindow/time.Minute)
	s.minute = m.minute()
	g := call.groupFor(s, 0)
	g.entries = binary.BigEndian.AppendUint32(g.entries, visitFingerprint(visit))
	g.octalHashes = appendOctal(g.octalHashes, visit)
	return call, g
}

// addLoad adds a page load, from which visits are derived: the first one of a
// visitor within visitWindow starts a visit. It is needed if the view and the visit
// are not stored in the same hashes.
func (b *hitBatch) addLoad(h *Hit, m siteTime, view record) {
	call, s := b.visitGroup(Entry, h.Site, h.Visitor, m)
	call.needsID = true
	sum := hashPage(h.Site.ID, h.Page)
	r := record{unix: m.unix, country: view.country, device: view.device}
	r.setVisit(h)
	s.log.add(s.key.recordHeader, s.log.page(sum, shardOf(sum, b.counter.options.Shards), h.Site.ID, h.Page), r)
}

// setVisit sets the dimensions of a visit that starts with a hit.
func (r *record) setVisit(h *Hit) {
	b := make([]byte, 0, 128)
	for _, value := range [len(visitDimensions)]string{h.Browser, h.OS, h.Channel, h.Source, h.Campaign, h.Link} {
		b = appendText(b, truncateValue(value))
	}
	r.visitValues = string(b)
}

func (b *hitBatch) addFiltered(h *FilteredHit) {
	reason := normalizeReason(h.Reason)
	if b.reasons == nil {
		b.reasons = map[string]int{}
	}
	b.reasons[reason]++
	b.addUncounted(h.Site, h.Page, h.At, reason)
}

// addUncounted adds a filtered hit or an event, which have no visitor.
func (b *hitBatch) addUncounted(site Site, page string, at time.Time, reason string) {
	m := b.clampedTime(at, site.Zone)
	sum := hashPage(site.ID, page)
	shard := shardOf(sum, b.counter.options.Shards)
	r := record{unix: m.unix, reason: reason}
	call := b.callFor(shard)
	call.needsID = true
	s := groupKey{recordHeader: recordHeader{filtered, noMethod, m.quarters, m.day}}
	g := call.groupFor(s, b.hits)
	g.log.add(s.recordHeader, g.log.page(sum, shard, site.ID, page), r)
	b.hits++
}

// callFor returns the script call for the next hit of a shard.
func (b *hitBatch) callFor(shard int) *shardCall {
	// Without a cluster, the dedup epochs of all shards are in shard 0, so that one
	// call can read them together. They are lost when a single node is migrated to
	// a cluster.
	at := 0
	if b.counter.isCluster {
		at = shard
	}
	call := b.open[at]
	if call == nil || call.hits == maxHitsPerCall {
		call = &shardCall{shard: at, tag: tag(at)}
		b.open[at] = call
		b.calls = append(b.calls, call)
	}
	return call
}

// groupFor returns the group for the next hit. Hits with the same settings keep
// their order; hits of different groups don't affect each other.
func (c *shardCall) groupFor(s groupKey, hit int) *hitGroup {
	if !s.isOfVisits() {
		c.hits++ // visits have no reply
	}
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

// stepStamp is added to the stamp of a funnel step in the dedup epochs.
const stepStamp = 128

// appendEntry appends a hit or a visit as the dedup epochs store it: see count.lua.
func appendEntry(b []byte, fingerprint uint32, stamp int64) []byte {
	return append(binary.BigEndian.AppendUint32(b, fingerprint), byte(stamp)) //nolint:gosec // a slot modulo 128, and stepStamp
}

// slotsPerEpoch is the number of time slots that an epoch is divided into.
const slotsPerEpoch = 60

// epochLengthFor returns the length of a dedup epoch in seconds for a window:
// at least the hour of the funnel, rounded up to whole slots.
func epochLengthFor(window time.Duration) int64 {
	seconds := max(int64(window/time.Second), 3600)
	return (seconds + slotsPerEpoch - 1) / slotsPerEpoch * slotsPerEpoch
}

func (c *shardCall) args(now time.Time) []any {
	args := make([]any, 0, 1+20*len(c.groups)+2*c.hits)
	id := ""
	if c.needsID {
		id = c.tag + "reply:" + uuid.NewString()
	}
	args = append(args, id)
	for _, g := range c.groups {
		s := g.key
		args = append(args, string(rune(s.kind)), len(g.hits), g.log.encode(s.recordHeader))
		if s.kind == filtered {
			continue
		}
		if s.kind == heartbeat {
			args = append(args, siteKey(c.shard, s.site), s.viewEpoch, s.midnight, now.Unix(), g.views, g.heartbeats)
			continue
		}
		if s.isOfVisits() {
			args = append(args, s.minute, c.epochKey(s, 0), c.epochKey(s, -1), 2*s.epochLength+60, s.slot, s.window,
				g.entries, g.octalHashes)
			if s.kind == EngagedVisit.letter() {
				args = append(args, g.views)
			}
			continue
		}
		var method, day, week, current, previous string
		if s.isView() {
			method, day, week = string(rune(s.method)), dayKey(s.day, s.method), weekKey(s.day, s.method)
			current, previous = halfMonthKey(s.day, s.method), halfMonthKey(s.day-halfMonth, s.method)
		}
		// An epoch is needed until the next one ends.
		args = append(args, method, c.epochKey(s, 0), c.epochKey(s, -1), 2*s.epochLength+60, s.slot, s.window, day,
			week, current, previous,
			g.entries, g.octalHashes, s.minute, g.pageIndexes, s.viewEpoch, len(g.siteViews))
		for _, v := range g.siteViews {
			args = append(args, siteKey(c.shard, v.site), v.hits, v.views)
		}
		args = append(args, len(g.log.pages))
		for _, page := range g.log.pages {
			args = append(args, page.hash)
		}
		args = append(args, g.visitors...)
	}
	return args
}

// epochKey returns the key prefix of an epoch, offset epochs after the current
// one.
func (c *shardCall) epochKey(s groupKey, offset int64) string {
	return c.tag + "d" + strconv.FormatInt(s.epochLength, 10) + ":" + strconv.FormatInt(s.epoch+offset, 10) + ":"
}

// send counts the batch.
func (b *hitBatch) send(ctx context.Context) ([]Outcome, error) {
	calls := make([]scriptCall, len(b.calls))
	for i, call := range b.calls {
		calls[i] = scriptCall{call.tag + "log", call.args(b.now)}
	}
	cmds, err := b.counter.runScripts(ctx, b.counter.countScript, calls)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	outcomes := make([]Outcome, b.hits)
	for i, cmd := range cmds {
		reply, err := cmd.Text()
		for _, g := range b.calls[i].groups {
			var ok bool
			if reply, ok = g.parseReply(reply, outcomes); !ok {
				return nil, fmt.Errorf("count: %w", errors.Join(errBadReply, err))
			}
		}
		if err != nil || reply != "" {
			return nil, fmt.Errorf("count: %w", errors.Join(errBadReply, err))
		}
	}
	return outcomes, nil
}

// parseReply sets the outcomes of the group's hits from the reply of count.lua and
// returns the rest of it.
func (g *hitGroup) parseReply(reply string, outcomes []Outcome) (rest string, ok bool) {
	n := len(g.hits)
	switch {
	case g.key.isOfVisits():
		return reply, true
	case g.key.kind == filtered:
		for _, hit := range g.hits {
			outcomes[hit].Counted = true
		}
		return reply, true
	case len(reply) < n:
		return "", false
	case g.key.kind == heartbeat:
		for i, hit := range g.hits {
			outcomes[hit].Counted = reply[i] == '1'
		}
		return reply[n:], true
	}
	flags, rest := reply[:n], reply[n:]
	isNew := "" // of clicks, all that count; a HyperLogLog does not tell
	if g.key.tracksVisitors() {
		if len(rest) < n {
			return "", false
		}
		isNew, rest = rest[:n], rest[n:]
	}
	const size = 8
	pages := len(g.log.pages)
	if len(rest) < size*pages {
		return "", false
	}
	totals := make([]int64, pages) // before each hit, backwards
	for page := range totals {
		totals[page] = int64(binary.BigEndian.Uint64([]byte(rest[size*page:]))) //nolint:gosec // a number of hits
	}
	for i := n - 1; i >= 0; i-- {
		counted, total := flags[i] != flagDuplicate, &totals[g.pageIndexes[i]-1]
		outcomes[g.hits[i]] = Outcome{
			Counted: counted, New: counted && (isNew != "" && isNew[i] == '1' || !g.key.isView()), Total: *total,
		}
		if counted {
			*total--
		}
	}
	return rest[size*pages:], true
}
