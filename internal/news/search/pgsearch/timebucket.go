package pgsearch

import (
	"strconv"
	"strings"
	"time"
)

// Time buckets are lexemes for the publication time of an article: the hour, the eight
// hours, the 64 hours and so on in which it was published. A common term is combined
// with the newest buckets in one tsquery, so that the GIN index answers both at once.
// With a condition on published_at, Postgres would check the newest rows one by one.
const (
	bucketLevels   = 6 // up to 32,768 hours
	bucketShift    = 3
	maxBucketTerms = 12 // in a query
)

// bucketName returns the lexeme of an hour's bucket at a level. It starts with @, which
// no word does. Names are stored, so they must not change.
func bucketName(level int, hour int64) string {
	return "@" + strconv.Itoa(level) + strconv.FormatInt(hour>>(bucketShift*level), 10)
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

// timeBuckets returns the buckets of a time at all levels.
func timeBuckets(t time.Time) []string {
	names := make([]string, bucketLevels)
	for level := range names {
		names[level] = bucketName(level, hourOf(t))
	}
	return names
}

// bucketsBetween returns a tsquery for articles published between two times. It
// includes the whole buckets of both ends.
func bucketsBetween(from, to time.Time) string {
	first, last := hourOf(from), max(hourOf(from), hourOf(to))
	level := 0
	for level < bucketLevels-1 && last>>(bucketShift*level)-first>>(bucketShift*level) >= maxBucketTerms {
		level++
	}
	var names []string
	for n := first >> (bucketShift * level); n <= last>>(bucketShift*level); n++ {
		names = append(names, quote(bucketName(level, n<<(bucketShift*level))))
	}
	return "(" + strings.Join(names, " | ") + ")"
}
