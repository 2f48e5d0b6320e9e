package searchtest

import (
	"math"
	"slices"

	"github.com/google/uuid"
)

// depth is the number of results that count.
const depth = 10

// NDCG compares a ranking with the ideal one, from 0 to 1: K. Järvelin and J.
// Kekäläinen, Cumulated Gain-Based Evaluation of IR Techniques (TOIS 20, 2002).
func NDCG(ranking []uuid.UUID, grades map[uuid.UUID]int) float64 {
	var got, best float64
	for i, id := range ranking[:min(len(ranking), depth)] {
		got += gain(grades[id], i)
	}
	ideal := make([]int, 0, len(grades))
	for _, g := range grades {
		ideal = append(ideal, g)
	}
	slices.Sort(ideal)
	slices.Reverse(ideal)
	for i, g := range ideal[:min(len(ideal), depth)] {
		best += gain(g, i)
	}
	if best == 0 {
		return 0
	}
	return got / best
}

func gain(grade, rank int) float64 {
	return (math.Pow(2, float64(grade)) - 1) / math.Log2(float64(rank)+2)
}

// Recall is the share of relevant articles among the first results.
func Recall(ranking []uuid.UUID, grades map[uuid.UUID]int) float64 {
	found := 0
	for _, id := range ranking[:min(len(ranking), depth)] {
		if grades[id] > 0 {
			found++
		}
	}
	return float64(found) / float64(len(grades))
}

// First reports whether the first hit is one of the best.
func First(ranking []uuid.UUID, grades map[uuid.UUID]int) float64 {
	best := 0
	for _, g := range grades {
		best = max(best, g)
	}
	if len(ranking) > 0 && grades[ranking[0]] == best {
		return 1
	}
	return 0
}
