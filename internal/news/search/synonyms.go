package search

import "slices"

// Synonyms are groups of words and phrases that mean the same in the news. A
// query that has one finds the others too. Both engines have them.
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

// SynonymsOf finds a group of synonyms of which the words of the first n terms
// are a member, the longest first, and gives its other members. Of long names,
// the words may lack their diacritics.
func SynonymsOf(terms []Term) (others []string, n int) {
	var line []Token
	for _, t := range terms {
		if t.Quoted || t.Prefix || t.Excluded {
			break
		}
		line = append(line, t.Words...)
	}
	longest := 0
	for _, group := range Synonyms() {
		for _, member := range group {
			tokens := Tokens(member)
			if len(tokens) <= longest || len(tokens) > len(line) {
				continue
			}
			same := true
			for i, token := range tokens {
				same = same && (line[i].Marked == token.Marked || token.HasMarks() && len(tokens) > 2 && line[i].Marked == token.Bare)
			}
			if same {
				longest = len(tokens)
				others = slices.DeleteFunc(slices.Clone(group), func(o string) bool { return o == member })
			}
		}
	}
	// A term may have several words.
	for left := longest; left > 0 && n < len(terms); n++ {
		left -= len(terms[n].Words)
	}
	return others, n
}
