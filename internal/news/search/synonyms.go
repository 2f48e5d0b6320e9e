package search

import "slices"

// Synonyms returns groups of words and phrases with the same meaning in news. Both
// engines use them.
func Synonyms() [][]string {
	return [][]string{
		{"tp hcm", "tphcm", "thành phố hồ chí minh", "sài gòn", "ho chi minh city", "saigon"},
		{"covid", "corona", "sars cov 2"},
		{"ubnd", "ủy ban nhân dân"},
		{"csgt", "cảnh sát giao thông"},
		{"gdp", "tổng sản phẩm quốc nội", "gross domestic product"},
		{"usd", "đô la mỹ", "us dollar"},
		{"mỹ", "hoa kỳ"},
		{"u.s.", "usa", "united states"},
		{"uk", "united kingdom"},
		{"eu", "european union", "liên minh châu âu"},
		{"united nations", "liên hợp quốc"},
		{"artificial intelligence", "trí tuệ nhân tạo"},
		{"world cup", "cúp bóng đá thế giới"},
		{"tnhh", "trách nhiệm hữu hạn"},
	}
}

// SynonymsOf finds the longest synonym that the first n terms form, and returns the
// other members of its group. In long names, diacritics may be omitted.
func SynonymsOf(terms []Term) (others []string, n int) {
	var line []Token
	for _, t := range terms {
		if t.Quoted || t.Prefix || t.Excluded {
			break
		}
		line = append(line, t.Words...)
	}
	matched := 0
	for _, group := range Synonyms() {
		for _, member := range group {
			tokens := Tokens(member)
			if len(tokens) <= matched || len(tokens) > len(line) {
				continue
			}
			same := true
			for i, token := range tokens {
				same = same && (line[i].Marked == token.Marked || line[i].Variant == token.Marked || token.HasMarks() &&
					len(tokens) > 2 && line[i].Marked == token.Bare)
			}
			if same {
				matched = len(tokens)
				others = slices.DeleteFunc(slices.Clone(group), func(o string) bool { return o == member })
			}
		}
	}
	// A term may have several words.
	for left := matched; left > 0 && n < len(terms); n++ {
		left -= len(terms[n].Words)
	}
	return others, n
}
