package search

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
