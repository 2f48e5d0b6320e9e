package counter

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/google/uuid"
)

// The keys. Every key of a page begins with its shard's tag, which puts a shard
// whole on one node of a Redis Cluster, and with its site:
//
//	{v07}<site>:<page>:t         hash: running totals, hours, days, dimensions
//	{v07}<site>:<page>:uH        different visitors of all time
//	{v07}<site>:<page>:1385uS, :1385uB    of half a month, who are remembered for 15 to 30 days
//	{v07}<site>:<page>:20778d<way>, :2969w<way>    of a day, of a week
//	{v07}<site>;now ;slow ;rise ;hour ;day    rankings
//	{v07}<site>;m29924640        hash: views of one minute by page
//	{v07}<site>;meta             hash: what the rankings are reckoned from
//	{v07}log                     list: counted and not folded yet; on one node all is in {v00}
//	{v07}sums                    list: the same, added up by page
//	{v07}away                    list: sums of other shards, on their way there
//	{v07}came:<sums>             that these came from another shard
//	{v07}deltas                  list: folded and not taken by a flush yet
//	{v07}flush:<batch>           list: taken by a flush
//	{v07}batches                 list: the batches taken and not dropped
//	{v07}gone:<batch>            that it was dropped
//	{v07}refused                 hash: hits that were filtered since the last batch, as JSON by page
//	{v07}refused:<batch>         hash: the same of a batch
//	{v07}quarantine              list: records that could not be read
//	{v07}left:<batch>            set: those that were left out of a batch
//	{v07}state                   hash: whether the shard is whole, numbers of its last change and of its log's
//	{v07}sites                   sorted set: sites by the minute they were last active in
//	{v07}d<seconds>:<n>:<1…>     hashes: who did what in the n-th stretch of time
//	{v07}d<seconds>:<n>:n        how these name their fields; on one node all are in {v00}
//	{v07}sketch                  for the length of a script
//	{v07}did:<call>              what a call was answered
//
// A page's name may hold anything: the site has 22 letters of base64, which
// have neither ':' nor ';' among them, and what follows the page's name has no
// ':' but its first letter.

// maxShards is what two digits can tell.
const maxShards = 100

// tagLength is len("{v07}"); the scripts cut it off page keys.
const tagLength = 5

func tag(shard int) string { return fmt.Sprintf("{v%02d}", shard) }

// hashPage and shardOf must never change: they say where the counts are.
func hashPage(site uuid.UUID, page string) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(0)
	_, _ = d.Write(site[:])
	_, _ = d.WriteString(page)
	return d.Sum64()
}

func shardOf(sum uint64, shards int) int {
	return int(sum % uint64(shards)) //nolint:gosec // less than shards
}

// hashVisit is the hash by which the same visitor doing the same again is known.
func hashVisit(site uuid.UUID, page string, kind Kind, visitor uint64) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(visitor)
	_, _ = d.Write(site[:])
	_, _ = d.Write([]byte{kind.letter()})
	_, _ = d.WriteString(page)
	return d.Sum64()
}

func siteKey(shard int, site uuid.UUID) string {
	return tag(shard) + base64.RawURLEncoding.EncodeToString(site[:])
}

// pageKey is what all keys of a page begin with.
func pageKey(shard int, site uuid.UUID, page string) string {
	return string(appendPageKey(make([]byte, 0, tagLength+23+len(page)), shard, site, page))
}

// pageTotalsKey is the key of a page's hash.
func pageTotalsKey(shard int, site uuid.UUID, page string) string {
	b := make([]byte, 0, tagLength+23+len(page)+len(totalsKey))
	return string(append(appendPageKey(b, shard, site, page), totalsKey...))
}

func appendPageKey(b []byte, shard int, site uuid.UUID, page string) []byte {
	const digits = "0123456789"
	b = append(b, '{', 'v', digits[shard/10], digits[shard%10], '}')
	b = base64.RawURLEncoding.AppendEncode(b, site[:])
	b = append(b, ':')
	return append(b, page...)
}

// siteLength is how long a siteKey is.
const siteLength = tagLength + 22

func isPageKey(key string) bool { return len(key) > siteLength+1 && key[siteLength] == ':' }

// splitPageKey is pageKey undone.
func splitPageKey(key string) (PageID, error) {
	const head = siteLength
	if !isPageKey(key) {
		return PageID{}, fmt.Errorf("%q is not the key of a page", key)
	}
	var site uuid.UUID
	if n, err := base64.RawURLEncoding.Decode(site[:], []byte(key[tagLength:head])); err != nil || n != len(site) {
		return PageID{}, fmt.Errorf("%q is not the key of a page", key)
	}
	return PageID{Site: site, Page: key[head+1:]}, nil
}

// isWellFormed says whether a key is one that appendPageKey makes. What is read
// from Redis is checked so: a key that Postgres, or a script, cannot take would
// keep all others from being flushed.
func isWellFormed(key string) bool {
	if !isPageKey(key) || len(key) > siteLength+1+maxPageLength {
		return false
	}
	if n, err := strconv.Atoi(key[2:4]); err != nil || n < 0 || key[:tagLength] != tag(n) {
		return false
	}
	_, err := splitPageKey(key)
	return err == nil
}

// Endings of page keys.
const totalsKey = ":t"

func allTimeKey(way byte) string { return ":u" + string(way) }

func dayKey(d Day, way byte) string {
	return ":" + strconv.Itoa(int(d)) + "d" + string(way)
}

func weekKey(d Day, way byte) string {
	return ":" + strconv.Itoa(d.week()) + "w" + string(way)
}

// halfMonth is how many days' visitors lie together in sets and bitmaps. Who
// comes back within it is known, and nobody is for longer than twice of it.
const halfMonth = 15

func halfMonthKey(d Day, way byte) string {
	return ":" + strconv.Itoa(int(d)/halfMonth) + "u" + string(way)
}

// week numbers weeks from Monday to Sunday; day 0 was a Thursday.
func (d Day) week() int { return (int(d) + 3) / 7 }

// weekdays are the days of the week up to d.
func (d Day) weekdays() []Day {
	var days []Day
	for day := Day(d.week()*7 - 3); day <= d; day++ { //nolint:gosec // a day of d's week
		days = append(days, day)
	}
	return days
}

// letter stands for a way in keys and records.
func (w UniqueMethod) letter() byte {
	switch w {
	case Set:
		return 'S'
	case SetPerDay:
		return 'P'
	case HyperLogLog:
		return 'H'
	case Bitmap:
		return 'B'
	}
	return 0
}

func methodFor(letter byte) UniqueMethod {
	for _, w := range []UniqueMethod{Set, SetPerDay, HyperLogLog, Bitmap} {
		if w.letter() == letter {
			return w
		}
	}
	return ""
}

// kinds are in the order of their codes.
func kinds() [3]Kind { return [3]Kind{View, Click, Conversion} }

// letter is the kind's total in the hash of a page.
func (k Kind) letter() byte {
	switch k {
	case View:
		return 'v'
	case Click:
		return 'c'
	case Conversion:
		return 'x'
	}
	return 0
}

func (k Kind) code() int { return strings.IndexByte("vcx", k.letter()) }

func kindFor(letter byte) Kind {
	if i := strings.IndexByte("vcx", letter); i >= 0 {
		return kinds()[i]
	}
	return ""
}

// Fields of a page's hash besides the totals: f and the kind's letter for steps
// of the funnel, hours and days as numbers, dimensions by a letter and the
// value, and these.
const (
	seededField       = "s"
	uniquesField      = "u" // all-time uniques of sets and bitmaps; of others, what they began with when they were seeded
	dailyUniquesField = "p" // SetPerDay: the sum of the days' uniques
	latestDayField    = "D" // the newest day with views
)

// Letters of the dimensions.
const (
	countryLetter  = 'a'
	deviceLetter   = 'b'
	referrerLetter = 'r'
)

// quarterSeconds is what hours are numbered by: some zones' hours begin at a quarter.
const quarterSeconds = 900

// hourField and dayField are integers, which Redis keeps in a few bytes.
func hourField(quarters int64, k Kind) string {
	return strconv.FormatInt(quarters*4+int64(k.code()), 10)
}

func dayField(d Day, k Kind) string { return strconv.Itoa(int(d)*4 + k.code()) }

// firstHourField is larger than any day's field and smaller than any hour's:
// hours of 1998 and days of 2654.
const firstHourField = 1_000_000

// appendOctal appends the eight octal digits that say where a visit is kept; the
// upper four bytes of it tell it from others there.
func appendOctal(b []byte, visit uint64) []byte {
	for shift := 21; shift >= 0; shift -= 3 {
		b = append(b, '0'+byte(visit>>shift&7))
	}
	return b
}
