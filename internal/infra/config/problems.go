package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

const hidden = "(hidden)"

// Problem is one thing that is wrong with the settings.
type Problem struct {
	Name    string // the setting
	Value   string // what was given; "(hidden)" for a secret, empty where there is none
	Wrong   string // what is wrong with it
	Accepts string // what would be right
}

func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Name)
	if p.Value == hidden {
		b.WriteString(" " + hidden)
	} else if p.Value != "" {
		fmt.Fprintf(&b, " %q", p.Value)
	}
	b.WriteString(" " + p.Wrong)
	if p.Accepts != "" {
		b.WriteString("; accepted: " + p.Accepts)
	}
	return strings.Replace(b.String(), "; accepted: did you mean", "; did you mean", 1)
}

// Problems is every problem that was found, as one error.
type Problems []Problem

func (ps Problems) Error() string {
	noun := "problems"
	if len(ps) == 1 {
		noun = "problem"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the settings have %d %s:", len(ps), noun)
	for _, p := range ps {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// reason strips the path from a file error, which the message names already.
func reason(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}

// nearest finds the name with the smallest edit distance, if it is near enough to be a slip.
func nearest(name string, names []string) (string, int) {
	best, bestDistance := "", len(name)/3+1
	for _, candidate := range names {
		if d := distance(strings.ToUpper(name), candidate); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best, bestDistance
}

// distance is the Levenshtein distance of two ASCII names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
