package x_test

import "strings"

const (
	oldLimit          = "written for the limit of 140; it is 280 now (config/v3.json)"
	emojiPerCodePoint = "weighs the code points of an emoji (config/v2.json); X weighs each emoji two (config/v3.json)"
)

// poem is a text of 160 characters used by several cases.
const poem = "故人西辞黄鹤楼，烟花三月下扬州。孤帆远影碧空尽，唯见长江天际流。朱雀桥边野草花，乌衣巷口夕阳斜。旧时王谢堂前燕，飞入寻常百姓家。朝辞白帝彩云间，千里江陵一日还。两岸猿声啼不住，轻舟已过万重山。泪湿罗巾梦不成，夜深前殿按歌声。红颜未老恩先断，斜倚薰笼坐到明。独在异乡为异客，每逢佳节倍思亲。遥知兄弟登高处，遍插茱萸少一人。"

func lengthCases() []validity {
	return []validity{
		{text: "I am a Tweet", valid: true},
		{
			text: "A lie gets halfway around the world before the truth has a chance to get its pants on. Winston " +
				"Churchill (1874-1965) http://bit.ly/dJpywL", valid: true,
		},
		{
			text: "A lié géts halfway arøünd thé wørld béføré thé truth has a chance tø get its pants øn. Winston " +
				"Churchill (1874-1965) http://bit.ly/dJpywL", valid: true,
		},
		{text: strings.Repeat("の", 140), valid: true},
		{text: strings.Repeat("🐱", 140), valid: true},
		{text: ""},
		{
			text: "A lie gets halfway around the world before the truth has a chance to get its pants on. -- Winston " +
				"Churchill (1874-1965) http://bit.ly/dJpywL", differs: oldLimit,
		},
		{
			text: "A lie gets halfway around the world before the truth has a chance to get its pants on. \n- " +
				"Winston Churchill (1874-1965) http://bit.ly/dJpywL", differs: oldLimit,
		},
	}
}

func plainWeights() []weighing {
	return []weighing{
		{text: "Hi http://test.co", weight: 26, valid: true},
		{text: "http://test.co", weight: 23, valid: true},
		{text: "285 chars" + strings.Repeat("-xxxxxxxxxx", 25) + "-", weight: 285, shown: 280},
		{text: "285 chars- http://www.twitter.com/jack " + strings.Repeat("xxxxxxxxxx-", 24), weight: 299, shown: 284},
		{text: strings.Repeat("xxxxxxxxxx-", 24) + " http://www.twitter.com/jack ", weight: 289, shown: 265},
		{text: strings.Repeat("https://www.twitter.com/aloha ", 10), weight: 240, valid: true},
		{text: poem, weight: 320, shown: 140},
		{text: strings.Repeat("😷", 160), weight: 320, shown: 280},
		{text: "the" + poem, weight: 323, shown: 141},
		{text: "ÁB", weight: 2, valid: true},
		{text: "Aשּׁ", weight: 4, valid: true},
		{text: "282 chars" + strings.Repeat("-xxxxxxxxxx", 24) + "-xxxxxÁx", weight: 281, shown: 281},
		{text: "H🐱☺👨\u200D👩\u200D👧\u200D👦", weight: 16, valid: true, differs: emojiPerCodePoint, got: 7},
		{text: "😷👾😡🔥💩", weight: 10, valid: true},
		{text: "🙋🏽👨\u200D🎤", weight: 9, valid: true, differs: emojiPerCodePoint, got: 4},
		{
			text: "This is a tweet with general punctuation characters: " +
				"\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u200B\u200C\u200D ‐ ‑ ‒ – — ― ‖  " +
				"‗ ‘ ’ ‚ ‛ “ ” „ ‟ ′ ″ ‴ ‵ ‶ ‷", weight: 112, valid: true,
		},
		{text: "Long url with invalid domain labels and a short url: https://" + strings.Repeat("somesuperlongurl",
			249) + ".com/foo https://" + strings.Repeat("somesuperlongurl", 249) + ".com/foo https://" +
			strings.Repeat("somesuperlongurl", 249) + ".com/foo https://validurl.com", weight: 12079, shown: 280},
		{text: strings.Repeat("randomurl", 7) + "s.com", weight: 68, valid: true},
		{
			text:   strings.Repeat("あいうえおかきくけこ", 12) + " http://" + strings.Repeat("あいうえおかきくけこ", 5) + "あいう.com",
			weight: 358,
			shown:  144,
		},
		{
			text:   strings.Repeat("あいうえおかきくけこ", 12) + " http://" + strings.Repeat("あいうえおかきくけこ", 5) + "あい.com",
			weight: 264,
			valid:  true,
		},
	}
}

func emojiWeights() []weighing {
	return []weighing{
		{text: "Hi http://test.co", weight: 26, valid: true},
		{text: "http://test.co", weight: 23, valid: true},
		{text: "285 chars" + strings.Repeat("-xxxxxxxxxx", 25) + "-", weight: 285, shown: 280},
		{text: "285 chars- http://www.twitter.com/jack " + strings.Repeat("xxxxxxxxxx-", 24), weight: 299, shown: 284},
		{text: strings.Repeat("xxxxxxxxxx-", 24) + " http://www.twitter.com/jack ", weight: 289, shown: 265},
		{text: strings.Repeat("https://www.twitter.com/aloha ", 10), weight: 240, valid: true},
		{text: poem, weight: 320, shown: 140},
		{text: strings.Repeat("😷", 160), weight: 320, shown: 280},
		{text: "the" + poem, weight: 323, shown: 141},
		{text: "282 chars" + strings.Repeat("-xxxxxxxxxx", 24) + "-xxxxxÁx", weight: 281, shown: 281},
		{text: "H🐱☺👨\u200D👩\u200D👧\u200D👦", weight: 7, valid: true},
		{text: "😷👾😡🔥💩", weight: 10, valid: true},
		{text: "🙋🏽👨\u200D🎤", weight: 4, valid: true},
		{
			text: "This is a tweet with general punctuation characters: " +
				"\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u200B ‐ ‑ ‒ – — ― ‖  ‗ ‘ ’ ‚ ‛ “ " +
				"” „ ‟ ′ ″ ‴ ‵ ‶ ‷", weight: 110, valid: true,
		},
		{text: "Long url with invalid domain labels and a short url: https://" + strings.Repeat("somesuperlongurl",
			249) + ".com/foo https://" + strings.Repeat("somesuperlongurl", 249) + ".com/foo https://" +
			strings.Repeat("somesuperlongurl", 249) + ".com/foo https://validurl.com", weight: 12079, shown: 280},
		{text: strings.Repeat("randomurl", 7) + "s.com", weight: 68, valid: true},
		{
			text:   strings.Repeat("あいうえおかきくけこ", 12) + " http://" + strings.Repeat("あいうえおかきくけこ", 5) + "あいう.com",
			weight: 358,
			shown:  144,
		},
		{
			text:   strings.Repeat("あいうえおかきくけこ", 12) + " http://" + strings.Repeat("あいうえおかきくけこ", 5) + "あい.com",
			weight: 264,
			valid:  true,
		},
		{text: strings.Repeat("👨\u200D👩\u200D👧\u200D👦", 140), weight: 280, valid: true},
		{text: "1\u20E3", weight: 2, valid: true},
		{
			text:   "Unicode 10.0 emoji: 🤪; 🧕; 🧕🏾; 🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F",
			weight: 34, valid: true,
		},
		{text: "Unicode 9.0 emoji: 🤠; 💃; 💃🏾", weight: 29, valid: true},
	}
}

func directionalWeights() []weighing {
	return []weighing{
		{text: "ABC\u202A\uFFFFABC\uFFFE", weight: 12},
		{text: "\u2066\u202Ahttp://foobar.پاکستان/\u202C\u2069", weight: 31, valid: true},
	}
}
