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
	stretchLevels = 6 // up to 32,768 hours
	stretchShift  = 3
	stretchMost   = 12 // names in a query
)

// stretchName names the stretch of a level in which an hour is. No word begins
// with a sign. The names are stored.
func stretchName(level int, hour int64) string {
	return "@" + strconv.Itoa(level) + strconv.FormatInt(hour>>(stretchShift*level), 10)
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

// stretchesOf names all stretches in which a moment is.
func stretchesOf(t time.Time) []string {
	names := make([]string, stretchLevels)
	for level := range names {
		names[level] = stretchName(level, hourOf(t))
	}
	return names
}

// within asks for what was published between two moments, and a little more: the
// stretches that hold the two are asked for whole.
func within(from, to time.Time) string {
	first, last := hourOf(from), max(hourOf(from), hourOf(to))
	level := 0
	for level < stretchLevels-1 && last>>(stretchShift*level)-first>>(stretchShift*level) >= stretchMost {
		level++
	}
	var names []string
	for n := first >> (stretchShift * level); n <= last>>(stretchShift*level); n++ {
		names = append(names, quote(stretchName(level, n<<(stretchShift*level))))
	}
	return "(" + strings.Join(names, " | ") + ")"
}
