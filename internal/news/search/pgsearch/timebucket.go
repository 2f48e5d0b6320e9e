package pgsearch

import (
	"strconv"
	"strings"
	"time"
)

// An article's words are joined by names of the stretches of time in which it was
// published: an hour, eight hours, 64, and so on. A word that most articles have
// is looked for together with the names of the newest stretches, and the index
// answers both at once. By a column of times Postgres would go through the newest
// articles one by one, and read the words of each.
const (
	bucketLevels   = 6 // up to 32,768 hours
	bucketShift    = 3
	maxBucketTerms = 12 // names in a query
)

// bucketName names the stretch of a level in which an hour is. No word begins
// with a sign. The names are stored.
func bucketName(level int, hour int64) string {
	return "@" + strconv.Itoa(level) + strconv.FormatInt(hour>>(bucketShift*level), 10)
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

// timeBuckets names all stretches in which a moment is.
func timeBuckets(t time.Time) []string {
	names := make([]string, bucketLevels)
	for level := range names {
		names[level] = bucketName(level, hourOf(t))
	}
	return names
}

// bucketsBetween asks for what was published between two moments, and a little more: the
// stretches that hold the two are asked for whole.
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
