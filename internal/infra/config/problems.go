package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

const hidden = "(hidden)"

// Problem is one invalid setting.
type Problem struct {
	Name    string // of the setting
	Value   string // as given; "(hidden)" for a secret, empty if there is none
	Wrong   string // why it is invalid
	Accepts string // the accepted values
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

// Problems is an error that lists all invalid settings.
type Problems []Problem

func (ps Problems) Error() string {
	noun := "problems"
	if len(ps) == 1 {
		noun = "problem"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "invalid configuration, %d %s:", len(ps), noun)
	for _, p := range ps {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// reason returns a file error without its path, which the message already contains.
func reason(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}

// nearest returns the name with the smallest edit distance, if it is small enough for a typo.
func nearest(name string, names []string) (string, int) {
	best, bestDistance := "", len(name)/3+1
	for _, candidate := range names {
		if d := distance(strings.ToUpper(name), candidate); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best, bestDistance
}

// distance returns the Levenshtein distance of two ASCII names.
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
