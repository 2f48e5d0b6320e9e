package eval_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article/eval"
)

// Two extractors are compared on the sites of both, and many pages of one site count as one sample.
func TestFigure_Compare(t *testing.T) {
	own, other := eval.Sites{}, eval.Sites{}
	for i := range 40 {
		site := fmt.Sprint(i)
		own[site] = &eval.Metrics{Date: eval.Ratio{Right: 2, Total: 2}}
		other[site] = &eval.Metrics{Date: eval.Ratio{Right: 1 + i%2, Total: 2}}
	}
	own["alone"] = &eval.Metrics{Date: eval.Ratio{Right: 0, Total: 100}}
	for _, f := range eval.Figures() {
		d, ok := f.Compare(own, other)
		if f.Name != "date" {
			require.False(t, ok, f.Name)
			continue
		}
		require.True(t, ok)
		require.InDelta(t, 0.25, d.By, 1e-9)
		require.Less(t, d.Low, 0.20)
		require.Greater(t, d.Low, 0.10)
		require.Greater(t, d.High, 0.30)
		require.Less(t, d.High, 0.40)
		same, _ := f.Compare(own, own)
		require.Equal(t, eval.Difference{}, same)
	}
}
