package counter

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/google/uuid"
)

// Redis keys. Every key of a page starts with its shard's tag, which assigns the
// shard to one node of a Redis Cluster, and with its site:
//
//	{v07}<site>:<page>:t         hash: running totals, hours, days, dimensions, a few visitors
//	{v07}<site>:<page>:uH        HyperLogLog: unique visitors of all time, if they are many
//	{v07}<site>:<page>:1385uS, :1385uB    unique visitors of half a month, kept for 15 to 30 days
//	{v07}<site>:<page>:20778d<method>, :2969w<method>    unique visitors of a day, of a week
//	{v07}<site>;now ;rise ;hour ;day    sorted sets: rankings
//	{v07}<site>;m29924640        hash: views of one minute by page
//	{v07}<site>;meta             hash: reference time of the rankings
//	{v07}<site>;20778V           HyperLogLog: visitors of the site on a day, on the shard's pages
//	{v07}<site>;w1995000         hash: views in progress that began in a quarter of an hour; one shard
//	{v07}<site>;reading          hash: views being read by the second of their last heartbeat; one shard
//	{v07}log                     list: counted, not aggregated yet; without a cluster all are in {v00}
//	{v07}summaries               list: the log summarized by page, not applied yet
//	{v07}transfers               list: summaries for other shards
//	{v07}received:<id>           marks a transfer as received
//	{v07}deltas                  list: aggregated, not taken by a flush yet
//	{v07}flush:<batch>           list: taken by a flush
//	{v07}batches                 list: ids of the batches that are not dropped
//	{v07}dropped:<batch>         marks a batch as dropped
//	{v07}filtered                hash: filtered hits since the last batch, as JSON by page
//	{v07}filtered:<batch>        hash: filtered hits of a batch
//	{v07}quarantine              list: records that could not be read
//	{v07}skipped:<batch>         set: records that a batch skipped
//	{v07}state                   hash: when the shard was seeded, change numbers of the lists and of the log
//	{v07}sites                   sorted set: sites by the minute of their last activity
//	{v07}d<seconds>:<n>:<1…>     hashes: hits and visits of the n-th dedup epoch
//	{v07}d<seconds>:<n>:n        widths of these hashes' field names; without a cluster all are in {v00}
//	{v07}sketch                  temporary key of a script
//	{v07}reply:<call>            reply to a call, for a resend
//
// A page name may contain anything: a site takes 22 characters of base64, which
// include neither ':' nor ';', and the suffix after the page name contains no ':'
// except its first character.

// maxShards is the number of shards that two digits can name.
const maxShards = 100

// tagLength is len("{v07}"). The scripts cut the tag off page keys.
const tagLength = 5

func tag(shard int) string {
	const digits = "0123456789"
	return string([]byte{'{', 'v', digits[shard/10], digits[shard%10], '}'})
}

// hashPage and shardOf determine where the counts are stored and must never
// change.
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

// hashSiteVisit returns the hash that identifies repeated page loads of a visitor on
// the site. It also determines the field of all hits of the visitor.
func hashSiteVisit(site uuid.UUID, visitor Visitor) uint64 {
	return hashVisit(site, "", Entry, visitor.Hash)
}

// visitFingerprint returns the fingerprint of a visit to the site: the upper half of
// its hash without the last bit, which count.lua uses.
func visitFingerprint(visit uint64) uint32 { return uint32(visit>>32) &^ 1 } //nolint:gosec // the upper half

// hashVisit returns the hash that identifies repeated hits of a visitor on a
// page, or with Entry and no page, on the site.
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

// pageKey returns the prefix of all keys of a page.
func pageKey(shard int, site uuid.UUID, page string) string {
	return string(appendPageKey(make([]byte, 0, tagLength+23+len(page)), shard, site, page))
}

// pageTotalsKey returns the key of a page's hash.
func pageTotalsKey(shard int, site uuid.UUID, page string) string {
	b := make([]byte, 0, tagLength+23+len(page)+len(totalsKey))
	return string(append(appendPageKey(b, shard, site, page), totalsKey...))
}

func appendPageKey(b []byte, shard int, site uuid.UUID, page string) []byte {
	b = append(b, tag(shard)...)
	b = base64.RawURLEncoding.AppendEncode(b, site[:])
	b = append(b, ':')
	return append(b, page...)
}

// siteLength is the length of a siteKey.
const siteLength = tagLength + 22

// siteDayKey returns the key of a site's visitors of a day.
func siteDayKey(shard int, site uuid.UUID, d Day) string {
	return siteKey(shard, site) + ";" + strconv.Itoa(int(d)) + "V"
}

func isPageKey(key string) bool { return len(key) > siteLength+1 && key[siteLength] == ':' }

// splitPageKey is the inverse of pageKey.
func splitPageKey(key string) (PageID, error) {
	const head = siteLength
	if !isPageKey(key) {
		return PageID{}, fmt.Errorf("%q is not a page key", key)
	}
	var site uuid.UUID
	if n, err := base64.RawURLEncoding.Decode(site[:], []byte(key[tagLength:head])); err != nil || n != len(site) {
		return PageID{}, fmt.Errorf("%q is not a page key", key)
	}
	return PageID{Site: site, Page: key[head+1:]}, nil
}

// isWellFormed reports whether appendPageKey could have made a key. Keys read
// from Redis are validated because a key that Postgres or a script rejects
// would block the flush of all others.
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

// Suffixes of page keys.
const totalsKey = ":t"

func allTimeKey(method byte) string { return ":u" + string(method) }

func dayKey(d Day, method byte) string {
	return ":" + strconv.Itoa(int(d)) + "d" + string(method)
}

func weekKey(d Day, method byte) string {
	return ":" + strconv.Itoa(d.week()) + "w" + string(method)
}

// halfMonth is the number of days whose visitors are stored together in a set
// or bitmap. Visitors are remembered for between one and two of these periods.
const halfMonth = 15

func halfMonthKey(d Day, method byte) string {
	return ":" + strconv.Itoa(int(d)/halfMonth) + "u" + string(method)
}

// week returns the number of the day's week, Monday to Sunday; day 0 was a
// Thursday.
func (d Day) week() int { return (int(d) + 3) / 7 }

// weekdays returns the days of the week up to d.
func (d Day) weekdays() []Day {
	var days []Day
	for day := Day(d.week()*7 - 3); day <= d; day++ { //nolint:gosec // a day of d's week
		days = append(days, day)
	}
	return days
}

// letter returns the method's letter in keys and records; 0 if it is unknown.
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

// letter returns the field of the kind's total in a page's hash; 0 if it is
// unknown.
func (k Kind) letter() byte {
	switch k {
	case View:
		return 'v'
	case Click:
		return 'c'
	case Conversion:
		return 'x'
	case Entry:
		return 'e'
	case SecondView:
		return 's'
	case EngagedVisit:
		return 'q'
	case Recirculation:
		return 'o'
	}
	return 0
}

// code returns the kind's number in fields of a page's hash; -1 for kinds that
// are not stored there.
func (k Kind) code() int { return strings.IndexByte(hitLetters, k.letter()) }

const (
	hitLetters  = "vcx"          // of the kinds that visitors send
	kindLetters = "vcx" + "esqo" // of all kinds
)

func kindFor(letter byte) Kind {
	for _, k := range []Kind{View, Click, Conversion, Entry, SecondView, EngagedVisit, Recirculation} {
		if k.letter() == letter {
			return k
		}
	}
	return ""
}

// Fields of a page's hash. Others are the kinds' letters for totals, f and the
// kind's letter for funnel steps, numbers for hours and days, and a letter
// followed by the value for dimensions.
const (
	seededField       = "s"
	uniquesField      = "u" // all-time uniques of sets and bitmaps; for other methods, the seeded number
	dailyUniquesField = "p" // SetPerDay: the sum of the days' uniques
	latestDayField    = "D" // the latest day with views
)

// Letters of the dimensions.
const (
	countryLetter  = 'a'
	deviceLetter   = 'b'
	referrerLetter = 'r'
)

// Letters of the dimensions of visits, which are not stored in pages' hashes.
const (
	visitCountryLetter  = 'A'
	visitDeviceLetter   = 'B'
	visitBrowserLetter  = 'W'
	visitOSLetter       = 'O'
	visitChannelLetter  = 'C'
	visitSourceLetter   = 'S'
	visitCampaignLetter = 'U'
	visitLinkLetter     = 'L'
)

// visitDimensions are the letters of the dimensions of visits that views don't have, in
// the order of the log.
const visitDimensions = string(visitBrowserLetter) + string(visitOSLetter) + string(visitChannelLetter) +
	string(visitSourceLetter) + string(visitCampaignLetter) + string(visitLinkLetter)

// isVisitLetter reports whether a letter is that of a dimension of visits.
func isVisitLetter(letter byte) bool { return strings.IndexByte("ABWOCSUL", letter) >= 0 }

// quarterSeconds is the unit that hours are numbered in, because hours of some
// zones start at a quarter.
const quarterSeconds = 900

// hourField and dayField return integers, which Redis stores in a few bytes.
func hourField(quarters int64, k Kind) string {
	return strconv.FormatInt(quarters*4+int64(k.code()), 10)
}

func dayField(d Day, k Kind) string { return strconv.Itoa(int(d)*4 + k.code()) }

// firstHourField is larger than the fields of days until 2654 and smaller than
// those of hours since 1998.
const firstHourField = 1_000_000

// appendOctal appends the lower three bytes of a visit's hash as eight octal
// digits, which determine its field; the upper four bytes are its fingerprint
// there.
func appendOctal(b []byte, visit uint64) []byte {
	for shift := 21; shift >= 0; shift -= 3 {
		b = append(b, '0'+byte(visit>>shift&7))
	}
	return b
}
