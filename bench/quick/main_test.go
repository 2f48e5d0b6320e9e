package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReport_FailsWhenAFigureGotWorse(t *testing.T) {
	chosen := []part{{name: "p", figures: map[string]figure{"speed": {key: "s"}, "cost": {key: "c", isCost: true}}}}
	for name, c := range map[string]struct {
		speed, cost float64
		worse       string
	}{
		"equal":           {100, 10, ""},
		"within a tenth":  {91, 10.9, ""},
		"better":          {300, 1, ""},
		"slower":          {89, 10, "speed"},
		"more expensive":  {100, 11.1, "cost"},
		"worse in both":   {50, 20, "cost, speed"},
		"cheaper, slower": {50, 5, "speed"},
	} {
		t.Run(name, func(t *testing.T) {
			trees := []tree{
				{name: "v1", figures: map[string][]float64{"speed": {100}, "cost": {10}}},
				{name: "this", figures: map[string][]float64{"speed": {c.speed}, "cost": {c.cost}}},
			}
			err := report(io.Discard, trees, chosen)
			if c.worse == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "worse than v1: "+c.worse)
		})
	}
	// A benchmark that the earlier commit does not have is only shown.
	trees := []tree{
		{name: "v1", figures: map[string][]float64{}},
		{name: "this", figures: map[string][]float64{"speed": {1}, "cost": {1}}},
	}
	require.NoError(t, report(io.Discard, trees, chosen))
}
