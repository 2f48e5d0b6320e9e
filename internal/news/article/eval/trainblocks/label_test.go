package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAlign(t *testing.T) {
	const body = "The bridge opens on Monday after two years of work.\nCosts\nThe city paid four million, twice as " +
		"much as planned.\nIn 2024 it had promised to pay half of that."
	for name, c := range map[string]struct {
		blocks []string
		want   []bool
	}{
		"a table of contents is no part of the body": {
			[]string{
				"Menu", "Costs", "About us", "The bridge opens on Monday after two years of work.", "Costs",
				"The city paid four million, twice as much as planned.",
			},
			[]bool{false, false, false, true, true, true},
		},
		"short blocks continue the body": {
			[]string{
				"2024 it", "The city paid four million, twice as much as planned.", "In 2024",
				"it had promised to pay half of that.",
			},
			[]bool{false, true, true, true},
		},
		"a heading alone": {
			[]string{"Costs", "Share this"},
			[]bool{true, false},
		},
		"a teaser with few words of the body": {
			[]string{"The bridge opens on Tuesday, says a spokesperson of the company that builds it"},
			[]bool{false},
		},
		"nothing": {[]string{""}, []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			blocks := make([][]string, len(c.blocks))
			for i, b := range c.blocks {
				blocks[i] = words(b)
			}
			require.Equal(t, c.want, align(body, blocks))
		})
	}
}
