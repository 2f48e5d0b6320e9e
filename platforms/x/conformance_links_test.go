package x_test

import "strings"

// twitter-text's isValidUrl follows RFC 3986. Dateline needs the links that X detects,
// which the library extracts and which are a subset of that.
const notLinked = "not a link for X as a whole"

func urlValidity() []validity {
	return []validity{
		{text: "http://example.com", valid: true},
		{text: "https://example.com/path/to/resource?search=foo&lang=en", valid: true},
		{text: "http://twitter.com/#!/twitter", valid: true},
		{text: "HTTPS://www.ExaMPLE.COM/index.html", valid: true},
		{text: "http://user:PASSW0RD@example.com:8080/login.php", valid: true, differs: notLinked},
		{text: "http://sports.yahoo.com/nfl/news;_ylt=Aom0;ylu=XyZ?slug=ap-superbowlnotebook", valid: true},
		{text: "http://192.168.0.1/index.html?src=asdf", valid: true, differs: notLinked},
		{text: "http://[3ffe:1900:4545:3:200:f8ff:fe21:67cf]:80/index.html", valid: true, differs: notLinked},
		{text: "http://test_underscore.twitter.com", valid: true},
		{text: "http://example.com?foo=$bar.;baz?BAZ&c=d-#top/?stories+", valid: true, differs: notLinked},
		{text: "http://☃.net/", valid: true},
		{text: "http://example.com/Русские_слова", valid: true},
		{text: "https://www.youtube.com/playlist?list=PL0ZPu8XSRTB7wZzn0mLHMvyzVFeRxbWn-", valid: true},
		{text: "ftp://www.example.com/"},
		{text: "https://user:pass[word]@www.example.com/"},
		{text: "http://domain-dash_2314352345_dfasd.foo-cow_4352.com"},
		{text: "http://www.-domain4352.com/"},
		{text: "http://www.domain4352-.com/"},
		{text: "http://☃-.net/"},
		{text: "http://%e2%98%83.net/"},
		{text: "http://256.1.2.3/"},
		{text: "http://en.wikipedia.org/wiki/\"#Punctuation"},
		{text: "http://example.com/#anchor "},
		{text: "http://test.-twitter.com"},
	}
}

func bareURLValidity() []validity {
	return []validity{
		{text: "example.com", valid: true},
		{text: "www.example.com", valid: true},
		{text: "t.co", valid: true},
		{text: "foo.co.jp", valid: true},
		{text: "example.com/path/to/resource?search=foo&lang=en", valid: true},
	}
}

func urlCases() []extraction {
	return []extraction{
		{text: "http://example.com", want: []string{"http://example.com"}},
		{text: "http://ああ.com", want: []string{"http://ああ.com"}},
		{text: "http://あ-あ.com", want: []string{"http://あ-あ.com"}},
		{text: "text http://google.com", want: []string{"http://google.com"}},
		{text: "text http://foobar.com/#", want: []string{"http://foobar.com/#"}},
		{text: "text http://google.com/#foo", want: []string{"http://google.com/#foo"}},
		{text: "text http://google.com/#search?q=iphone%20-filter%3Alinks", want: []string{
			"http://google.com/#search?q=iphone%20-filter%3Alinks",
		}},
		{text: "text http://twitter.com/#search?q=iphone%20-filter%3Alinks", want: []string{
			"http://twitter.com/#search?q=iphone%20-filter%3Alinks",
		}},
		{text: "text http://somedomain.com/index.php?path=/abc/def/", want: []string{
			"http://somedomain.com/index.php?path=/abc/def/",
		}},
		{text: "text http://www.boingboing.net/2007/02/14/katamari_damacy_phon.html", want: []string{
			"http://www.boingboing.net/2007/02/14/katamari_damacy_phon.html",
		}},
		{text: "text http://somehost.com:3000", want: []string{"http://somehost.com:3000"}},
		{text: "text http://xo.com/~matthew+%ff-x", want: []string{"http://xo.com/~matthew+%ff-x"}},
		{text: "text http://xo.com/~matthew+%ff-,.;x", want: []string{"http://xo.com/~matthew+%ff-,.;x"}},
		{text: "text http://xo.com/,.;x", want: []string{"http://xo.com/,.;x"}},
		{text: "text http://en.wikipedia.org/wiki/Primer_(film)", want: []string{
			"http://en.wikipedia.org/wiki/Primer_(film)",
		}},
		{text: "text http://www.ams.org/bookstore-getitem/item=mbk-59", want: []string{
			"http://www.ams.org/bookstore-getitem/item=mbk-59",
		}},
		{text: "text http://✪df.ws/ejp", want: []string{"http://✪df.ws/ejp"}},
		{text: "test http://example.comだよね.comtest/hogehoge", want: []string{"http://example.com"}},
		{text: "text http://chilp.it/?77e8fd", want: []string{"http://chilp.it/?77e8fd"}},
		{text: "text http://x.com/oneletterdomain", want: []string{"http://x.com/oneletterdomain"}},
		{
			text: "text http://msdn.microsoft.com/ja-jp/library/system.net.httpwebrequest(v=VS.100).aspx",
			want: []string{"http://msdn.microsoft.com/ja-jp/library/system.net.httpwebrequest(v=VS.100).aspx"},
		},
		{
			text: "text https://www.youtube.com/watch?v=LOxOAuDHzaw&list=PLPoq910Q9jXhuH6pit_KwIsck9fEz_9U-",
			want: []string{"https://www.youtube.com/watch?v=LOxOAuDHzaw&list=PLPoq910Q9jXhuH6pit_KwIsck9fEz_9U-"},
		},
		{text: "text http://no-tld"},
		{text: "text http://tld-too-short.x"},
		{text: "(http://twitter.com", want: []string{"http://twitter.com"}},
		{text: "text http://word-and-a-number-8-ftw.domain.com/", want: []string{
			"http://word-and-a-number-8-ftw.domain.com/",
		}},
		{text: "text http://domain.com-that-you-should-have-put-a-space-after"},
		{text: "text http://foo.com?#foo text", want: []string{"http://foo.com?#foo"}},
		{text: "foo.com foo.net foo.org foo.edu foo.gov", want: []string{
			"foo.com", "foo.net", "foo.org", "foo.edu", "foo.gov",
		}},
		{
			text: "foo.baz foo.co.jp www.xxxxxxx.baz www.foo.co.uk wwwww.xxxxxxx foo.comm foo.somecom " +
				"foo.govedu foo.jp",
			want: []string{"foo.co.jp", "www.foo.co.uk", "foo.jp"},
		},
		{text: "t.co/abcde bit.ly/abcde", want: []string{"t.co/abcde", "bit.ly/abcde"}},
		{text: "http://foo.jp http://fooooo.jp", want: []string{"http://foo.jp", "http://fooooo.jp"}},
		{text: "Go to http://example.com/a+ or http://example.com/a-", want: []string{
			"http://example.com/a+", "http://example.com/a-",
		}},
		{text: "Go to http://example.com/view/slug-url-?foo=bar", want: []string{
			"http://example.com/view/slug-url-?foo=bar",
		}},
		{text: "Go to https://en.m.wikipedia.org/wiki/Hatfield–McCoy_feud please", want: []string{
			"https://en.m.wikipedia.org/wiki/Hatfield–McCoy_feud",
		}},
		{text: "@user Try http:// example.com/path", want: []string{"example.com/path"}},
		{text: "これは日本語です。example.com/path/index.html中国語example.com/path한국", want: []string{
			"example.com/path/index.html", "example.com/path",
		}},
		{
			text: "twitter.comこれは日本語です。example.com中国語t.co/abcde한국twitter.com example2.comテストtwitter.com/abcde",
			want: []string{
				"twitter.com", "example.com", "t.co/abcde", "twitter.com", "example2.com",
				"twitter.com/abcde",
			},
		},
		{
			text: "http://twitter.com/これは日本語です。example.com中国語http://t.co/abcde한국twitter.comテストexample2.comテストhttp://twitter.com/abcde", want: []string{"http://twitter.com/", "example.com", "http://t.co/abcde", "twitter.com", "example2.com", "http://twitter.com/abcde"},
		},
		{text: "Go to http://twitter.com/Русские_слова", want: []string{"http://twitter.com/Русские_слова"}},
		{
			text: "http://exampleこれは日本語です.com/path/index.html http://" + strings.Repeat("あ", 257) +
				".com/path/index.html",
			want: []string{"http://exampleこれは日本語です.com/path/index.html"},
		},
		{text: "twitter.jp日本語it.so中国語foo.jp it.so foo.jp", want: []string{
			"twitter.jp", "it.so", "foo.jp", "it.so", "foo.jp",
		}},
		{text: "Hello http://xn--はじめよう.com/index.html"},
		{text: "text http://domain-dash_2314352345_dfasd.foo-cow_4352.com"},
		{text: "Email me at name.al-lastname@foo.com or name.al+lastname@foo.com"},
		{text: "Find my page at name.al-lastname.com", want: []string{"name.al-lastname.com"}},
		{text: "MLB.tv vine.co twitch.tv t.co", want: []string{"MLB.tv", "vine.co", "twitch.tv", "t.co"}},
		{text: "@user Try http://\u00A0example.com/path", want: []string{"example.com/path"}},
		{text: "test http://sub_domain-dash.twitter.com", want: []string{"http://sub_domain-dash.twitter.com"}},
		{text: "test http://a.b.cd", want: []string{"http://a.b.cd"}},
		{text: "test http://a_b.c-d.com", want: []string{"http://a_b.c-d.com"}},
		{text: "test http://a-b.c.com", want: []string{"http://a-b.c.com"}},
		{text: "test http://twitter-dash.com", want: []string{"http://twitter-dash.com"}},
		{
			text: "http://www.bestbuy.com/site/Currie+Technologies+-+Ezip+400+Scooter/9885188.p?id=1218189013070&skuId=9885188", want: []string{"http://www.bestbuy.com/site/Currie+Technologies+-+Ezip+400+Scooter/9885188.p?id=1218189013070&skuId=9885188"},
		},
		{text: "test http://-leadingdash.twitter.com"},
		{text: "test http://leadingdash.-twitter.com"},
		{text: "test http://trailingdash-.twitter.com"},
		{text: "test http://trailingdash.twitter-.com"},
		{text: "test http://_leadingunderscore.twitter.com"},
		{text: "test http://leadingunderscore._twitter.com"},
		{text: "test http://trailingunderscore_.twitter.com"},
		{text: "test http://trailingunderscore.twitter_.com"},
		{text: "test http://-twitter.com"},
		{text: "test http://twitter-.com"},
		{text: "test http://twitter_underscore.com"},
		{text: "test http://twitter.c_o_m"},
		{text: "test http://www.foo.com/foo/path-with-period./", want: []string{
			"http://www.foo.com/foo/path-with-period./",
		}},
		{text: "test http://www.foo.org.za/foo/bar/688.1", want: []string{"http://www.foo.org.za/foo/bar/688.1"}},
		{text: "test http://www.foo.com/bar-path/some.stm?param1=foo;param2=P1|0||P2|0", want: []string{
			"http://www.foo.com/bar-path/some.stm?param1=foo;param2=P1|0||P2|0",
		}},
		{text: "test http://foo.com/bar/123/foo_&_bar/", want: []string{"http://foo.com/bar/123/foo_&_bar/"}},
		{text: "test http://www.cp.sc.edu/events/65 test", want: []string{"http://www.cp.sc.edu/events/65"}},
		{text: "http://www.andersondaradio.no.comunidades.net/ test test", want: []string{
			"http://www.andersondaradio.no.comunidades.net/",
		}},
		{text: "test ELPAÍS.com", want: []string{"ELPAÍS.com"}},
		{text: "test http://twitter.com/.", want: []string{"http://twitter.com/"}},
		{
			text: "http://tn.com.ar/show/00056158/la-estrella-del-certamen-el-turno-de-pamela-anderson?fb_xd_fragment#?=&cb=fe17523f223b7&relation=parent.parent&transport=fragment&type=resize&height=20&ackdata", want: []string{"http://tn.com.ar/show/00056158/la-estrella-del-certamen-el-turno-de-pamela-anderson?fb_xd_fragment#?=&cb=fe17523f223b7&relation=parent.parent&transport=fragment&type=resize&height=20&ackdata"},
		},
		{
			text: "text http://tn.com.ar/show/00056158/la-estrella-del-certamen-el-turno-de-pamela-anderson?fb_xd_fragment#?=&cb=fe17523f223b7&relation=parent.parent&transport=fragment&type=resize&height=20&ackdata text", want: []string{"http://tn.com.ar/show/00056158/la-estrella-del-certamen-el-turno-de-pamela-anderson?fb_xd_fragment#?=&cb=fe17523f223b7&relation=parent.parent&transport=fragment&type=resize&height=20&ackdata"},
		},
		{text: "Test a ton of periods http://example.com/path" + strings.Repeat(".", 42), want: []string{
			"http://example.com/path",
		}},
		{text: "Test a ton of periods http://example.com/" + strings.Repeat(",", 42), want: []string{
			"http://example.com/",
		}},
		{text: "Test a ton of periods http://example.com/path/" + strings.Repeat("!", 42), want: []string{
			"http://example.com/path/",
		}},
		{text: "#test.com @test.com #http://test.com @http://test.com #t.co/abcde @t.co/abcde"},
		{text: "I really like http://t.co/pbY2NfTZ's website", want: []string{"http://t.co/pbY2NfTZ"}},
		{text: "Check this site out http://t.co/FNkPfmii- it's great", want: []string{"http://t.co/FNkPfmii"}},
		{text: "According to http://t.co/ulYGBYSo: the internet is cool", want: []string{"http://t.co/ulYGBYSo"}},
		{text: "I really like http://t.co/abcdefghijklmnopqrstuvwxyz0123456789", want: []string{
			"http://t.co/abcdefghijklmnopqrstuvwxyz0123456789",
		}},
		{text: "I really like http://t.co/abcdefghijklmnopqrstuvwxyz012345678901234"},
		{text: "example.comてすとですtwitter.みんなです", want: []string{"example.com", "twitter.みんな"}},
		{
			text: "http://twitter.com\nhttp://example.com\nhttp://example.com/path\nexample.com/path\nit.so\n" +
				"it.so/abcde",
			want: []string{
				"http://twitter.com", "http://example.com", "http://example.com/path", "example.com/path",
				"it.so", "it.so/abcde",
			},
		},
		{text: "$http://twitter.com $twitter.com $http://t.co/abcde $t.co/abcde $t.co $TVI.CA $RBS.CA"},
		{text: "long.test.tar.bz2 test.tar.bz2 tar.bz2"},
		{text: "john.doe.gov@mail.com"},
		{text: "john.doe.jp@mail.com"},
	}
}

func shortURLCases() []extraction {
	return []extraction{
		{text: "text https://t.co/UqIyJAJTfo?amp=1", want: []string{"https://t.co/UqIyJAJTfo?amp=1"}},
		{text: "text https://t.co/UqIyJAJTfo?type=js", want: []string{"https://t.co/UqIyJAJTfo?type=js"}},
		{text: "text https://t.co/UqIyJAJTfo?ssr=true", want: []string{"https://t.co/UqIyJAJTfo?ssr=true"}},
		{text: "text https://t.co/asdfdf?a=b#123", want: []string{"https://t.co/asdfdf?a=b#123"}},
		{text: "text https://t.co/sadfasdf?a=b&c=d", want: []string{"https://t.co/sadfasdf?a=b&c=d"}},
	}
}

func urlPositions() []position {
	return []position{
		{text: "text http://google.com", want: []found{{"http://google.com", 5, 22}}},
		{text: "皆さん見てください！ http://google.com", want: []found{{"http://google.com", 11, 28}}},
		{text: "t.co/abcde bit.ly/abcde", want: []found{{"t.co/abcde", 0, 10}, {"bit.ly/abcde", 11, 23}}},
		{
			text: "twitter.comこれは日本語です。example.com中国語t.co/abcde한국twitter.com example2.comテストtwitter.com/abcde",
			want: []found{
				{"twitter.com", 0, 11},
				{"example.com", 20, 31},
				{"t.co/abcde", 34, 44},
				{"twitter.com", 46, 57},
				{"example2.com", 58, 70},
				{"twitter.com/abcde", 73, 90},
			},
		},
		{
			text: "http://twitter.com/これは日本語です。example.com中国語http://t.co/abcde한국twitter.comテストexample2.comテストhttp://twitter.com/abcde", want: []found{{"http://twitter.com/", 0, 19}, {"example.com", 28, 39}, {"http://t.co/abcde", 42, 59}, {"twitter.com", 61, 72}, {"example2.com", 75, 87}, {"http://twitter.com/abcde", 90, 114}},
		},
		{
			text: "http://t.co/pbY2NfTZ's http://t.co/2vYHpAc5; http://t.co/ulYGBYSo: http://t.co/8MkmHU0k+c " +
				"http://t.co/TKLp64dY.x http://t.co/8t7G3ddS#a http://t.co/FNkPfmii-",
			want: []found{
				{"http://t.co/pbY2NfTZ", 0, 20},
				{"http://t.co/2vYHpAc5", 23, 43},
				{"http://t.co/ulYGBYSo", 45, 65},
				{"http://t.co/8MkmHU0k", 67, 87},
				{"http://t.co/TKLp64dY", 90, 110},
				{"http://t.co/8t7G3ddS", 113, 133},
				{"http://t.co/FNkPfmii", 136, 156},
			},
		},
		{text: "http://www.foo.com?referer=https://t.co/abcde http://t.co/xyzzy", want: []found{
			{"http://www.foo.com?referer=https://t.co/abcde", 0, 45}, {"http://t.co/xyzzy", 46, 63},
		}},
		{text: "http://t.co http://t.co", want: []found{{"http://t.co", 0, 11}, {"http://t.co", 12, 23}}},
		{text: "test http://xn--ls8h.XN--ls8h.la/", want: []found{{"http://xn--ls8h.XN--ls8h.la/", 5, 33}}},
		{text: "test http://foobar.みんな/ http://foobar.中国/ http://foobar.پاکستان/ ", want: []found{
			{"http://foobar.みんな/", 5, 23}, {"http://foobar.中国/", 24, 41}, {"http://foobar.پاکستان/", 42, 64},
		}},
	}
}

func directionalURLPositions() []position {
	return []position{
		{text: "\u2066\u202Atest abcdef.com پاکستان http://twitter.com/\u202C\u2069", want: []found{
			{"abcdef.com", 7, 17}, {"http://twitter.com/", 26, 45},
		}},
		{
			text: "This is a test \u2066\u202Atwitter.com\u202C\u2069 " +
				"\u2066\u202Ahttp://foobar.پاکستان/\u202C\u2069\u2069 قطر فلسطين عمان", want: []found{
				{"twitter.com", 17, 28}, {"http://foobar.پاکستان/", 33, 55},
			},
		},
	}
}
