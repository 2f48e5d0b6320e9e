package x_test

func hashtagValidity() []validity {
	return []validity{
		{text: "#hashtag", valid: true},
		{text: "#1st", valid: true},
		{text: "#that1time", valid: true},
		{text: "#easyas123", valid: true},
		{text: "#12345"},
		{text: "#ашок", valid: true},
		{text: "#트위터", valid: true},
	}
}

func hashtagCases() []extraction {
	return []extraction{
		{text: "a ✌#hashtag here", want: []string{"hashtag"}},
		{text: "a ✌\uFE0E#hashtag here", want: []string{"hashtag"}},
		{text: "a ✌\uFE0F#hashtag here", want: []string{"hashtag"}},
		{text: "a ✌🏿#hashtag here", want: []string{"hashtag"}},
		{text: "a ✌🏿\uFE0F#hashtag here", want: []string{"hashtag"}},
		{text: "a 👨\u200D👩\u200D👧#hashtag here", want: []string{"hashtag"}},
		{text: "a #hashtag here", want: []string{"hashtag"}},
		{text: "this is #hashtag1", want: []string{"hashtag1"}},
		{text: "#1hashtag is this", want: []string{"1hashtag"}},
		{text: "On the #16 bus"},
		{text: "#0"},
		{text: "(#hashtag1 )#hashtag2 [#hashtag3 ]#hashtag4 ’#hashtag5’#hashtag6", want: []string{
			"hashtag1", "hashtag2", "hashtag3", "hashtag4", "hashtag5", "hashtag6",
		}},
		{text: "I'll write more tests #mañana", want: []string{"mañana"}},
		{text: "Working remotely #café", want: []string{"café"}},
		{text: "Getting my Oktoberfest on #münchen", want: []string{"münchen"}},
		{text: "this is not valid: # 会議中 ハッシュ"},
		{text: "What is #트위터 anyway?", want: []string{"트위터"}},
		{text: "Just random half-width Hangul #ﾣﾦﾰ", want: []string{"ﾣﾦﾰ"}},
		{text: "What is #ашок anyway?", want: []string{"ашок"}},
		{text: "#カタカナ is a hashtag", want: []string{"カタカナ"}},
		{text: "#ひらがな FTW!", want: []string{"ひらがな"}},
		{text: "#漢字 is the future", want: []string{"漢字"}},
		{text: "Hashtag #カタカナ", want: []string{"カタカナ"}},
		{text: "Japanese hashtags #ひらがな", want: []string{"ひらがな"}},
		{text: "Study time #漢字", want: []string{"漢字"}},
		{text: "See my #カタカナ hashtag?", want: []string{"カタカナ"}},
		{text: "Study #ひらがな for fun and profit", want: []string{"ひらがな"}},
		{text: "Some say #漢字 is the past. what do they know?", want: []string{"漢字"}},
		{text: "日本語ハッシュタグテスト #日本語ハッシュタグ", want: []string{"日本語ハッシュタグ"}},
		{text: "日本語ハッシュテスト。#日本語ハッシュタグ", want: []string{"日本語ハッシュタグ"}},
		{text: "#日本語ハッシュタグ。", want: []string{"日本語ハッシュタグ"}},
		{text: "全角英数字ハッシュタグ ＃ｈａｓｈｔａｇ１２３", want: []string{"ｈａｓｈｔａｇ１２３"}},
		{text: "日本語ハッシュタグ#日本語ハッシュタグ"},
		{text: "長音ハッシュタグ。#サッカー", want: []string{"サッカー"}},
		{text: "長音ハッシュタグ。#ｻｯｶｰ", want: []string{"ｻｯｶｰ"}},
		{text: "#ﾊｯｼｭﾀｸﾞ #ﾊﾟﾋﾟﾌﾟﾍﾟﾎﾟ", want: []string{"ﾊｯｼｭﾀｸﾞ", "ﾊﾟﾋﾟﾌﾟﾍﾟﾎﾟ"}},
		{text: "できましたよー！#日本語ハッシュタグ。", want: []string{"日本語ハッシュタグ"}},
		{text: "できましたよー！＃日本語ハッシュタグ。", want: []string{"日本語ハッシュタグ"}},
		{text: "#云々 #学問のすゝめ #いすゞ #各〻 #各〃", want: []string{"云々", "学問のすゝめ", "いすゞ", "各〻", "各〃"}},
		{text: "#メ～テレ ハッシュタグ内で～が認識されず", want: []string{"メ～テレ"}},
		{text: "#メ〜テレ ハッシュタグ内で～が認識されず", want: []string{"メ〜テレ"}},
		{text: "Here’s a test tweet for you: #Ateş #qrşt #ştu #ş", want: []string{"Ateş", "qrşt", "ştu", "ş"}},
		{text: "Here’s a test tweet for you: #İn #ın", want: []string{"İn", "ın"}},
		{text: "#hashtag: #hashtag; #hashtag, #hashtag. #hashtag! #hashtag?", want: []string{
			"hashtag", "hashtag", "hashtag", "hashtag", "hashtag", "hashtag",
		}},
		{text: ":#hashtag ;#hashtag ,#hashtag .#hashtag !#hashtag ?#hashtag", want: []string{
			"hashtag", "hashtag", "hashtag", "hashtag", "hashtag", "hashtag",
		}},
		{text: "#hashtag\ntest\n#hashtag2\ntest\n#hashtag3\n", want: []string{"hashtag", "hashtag2", "hashtag3"}},
		{text: "#http://twitter.com #https://twitter.com"},
		{text: "http://twitter.com/#hashtag twitter.com/#hashtag"},
		{text: "#Azərbaycanca #mûǁae #Čeština #Ċaoiṁín", want: []string{"Azərbaycanca", "mûǁae", "Čeština", "Ċaoiṁín"}},
		{
			text: "#سیاست #ایران #السياسة #السياح #لغات  #اتمی  #کنفرانس #العربية #الجزيرة #فارسی",
			want: []string{
				"سیاست", "ایران", "السياسة", "السياح", "لغات", "اتمی", "کنفرانس", "العربية", "الجزيرة",
				"فارسی",
			},
		},
		{text: "#برنامه_نویسی  #رییس_جمهور  #رئيس_الوزراء, #ثبت_نام. #لس_آنجلس", want: []string{
			"برنامه_نویسی", "رییس_جمهور", "رئيس_الوزراء", "ثبت_نام", "لس_آنجلس",
		}},
		{text: "#עַל־יְדֵי #וכו׳ #מ״כ", want: []string{"עַל־יְדֵי", "וכו׳", "מ״כ"}},
		{
			text: "#ผู้เริ่ม #การเมือง #รายละเอียด #นักท่องเที่ยว #ของขวัญ #สนามบิน #เดินทาง #ประธาน",
			want: []string{
				"ผู้เริ่ม", "การเมือง", "รายละเอียด", "นักท่องเที่ยว", "ของขวัญ", "สนามบิน", "เดินทาง",
				"ประธาน",
			},
		},
		{text: "#أي\u200Cبي\u200Cإم #می\u200Cخواهم", want: []string{"أي\u200Cبي\u200Cإم", "می\u200Cخواهم"}},
		{text: "የአላህ መልእክተኛ ሰለላሁ ዓለይሂ ወሰለም #ኢትዮሙስሊምስ", want: []string{"ኢትዮሙስሊምስ"}},
		{text: "#ශ්\u200Dරීලංකා", want: []string{"ශ්\u200Dරීලංකා"}},
		{text: "#۳۴۵هشتگ #هشتگ۶۷۸ #ســـلام_عليكم_٤٠٦", want: []string{"۳۴۵هشتگ", "هشتگ۶۷۸", "ســـلام_عليكم_٤٠٦"}},
		{text: "#महात्मा #महात्मा_१२३४ #१२३४ गांधी", want: []string{"महात्मा", "महात्मा_१२३४"}},
		{text: "#বাংলা #ગુજરાતી #ಕನ್ನಡ #മലയാളം #ଓଡ଼ିଆ #ਪੰਜਾਬੀ #සිංහල #தமிழ் #తెలుగు", want: []string{
			"বাংলা", "ગુજરાતી", "ಕನ್ನಡ", "മലയാളം", "ଓଡ଼ିଆ", "ਪੰਜਾਬੀ", "සිංහල", "தமிழ்", "తెలుగు",
		}},
		{text: "#བོད་སྐད་ #བོད་སྐད", want: []string{"བོད་སྐད་", "བོད་སྐད"}},
		{text: "#មហាត្មះគន្ធី #မြင့်မြတ်သော #ຊີວະສາດ", want: []string{"មហាត្មះគន្ធី", "မြင့်မြတ်သော", "ຊີວະສາດ"}},
		{text: "#Μαχάτμα_Γκάντι ήταν Ινδός πολιτικός", want: []string{"Μαχάτμα_Γκάντι"}},
		{text: "#Մահաթմա #მაჰათმა", want: []string{"Մահաթմա", "მაჰათმა"}},
		{text: "#il·lusió", want: []string{"il·lusió"}},
		{text: "#_ #1_2 #122 #〃"},
	}
}

func astralHashtagCases() []extraction {
	return []extraction{
		{text: "#𠀡", want: []string{"𠀡"}},
		{text: "#𖼄𖽑", want: []string{"𖼄𖽑"}},
		{text: "#A𐒠", want: []string{"A𐒠"}},
	}
}

func hashtagPositions() []position {
	return []position{
		{text: "#hashtag here", want: []found{{"hashtag", 0, 8}}},
		{text: "test a #hashtag", want: []found{{"hashtag", 7, 15}}},
		{text: "test a #hashtag in a string", want: []found{{"hashtag", 7, 15}}},
		{text: "#123 a #hashtag in a string", want: []found{{"hashtag", 7, 15}}},
		{text: "会議中 #hashtag 会議中", want: []found{{"hashtag", 4, 12}}},
		{text: "One #two three #four", want: []found{{"two", 4, 8}, {"four", 15, 20}}},
		{text: "Hashtags in #русский!", want: []found{{"русский", 12, 20}}},
		{text: "Hashtags in #中文, #日本語, #한국말, and #русский! Try it out!", want: []found{
			{"中文", 12, 15}, {"日本語", 17, 21}, {"한국말", 23, 27}, {"русский", 33, 41},
		}},
	}
}

func cashtagCases() []extraction {
	return []extraction{
		{text: "Example cashtags: $TEST $Stock   $symbol", want: []string{"TEST", "Stock", "symbol"}},
		{text: "Example cashtags: $TEST.T $test.tt $Stock_X $symbol_ab", want: []string{
			"TEST.T", "test.tt", "Stock_X", "symbol_ab",
		}},
		{text: "$123 $test123 $TE123ST"},
		{text: "$ストック $株"},
		{text: "$ $. $- $@ $! $() $+"},
		{text: "$TEST. $TEST_", want: []string{"TEST", "TEST"}},
		{text: "$OK$NG$BAD text$NO .$NG $$NG", want: []string{"OK"}},
		{text: "$CashtagMustBeLessThanSixCharacter"},
	}
}

func cashtagPositions() []position {
	return []position{
		{text: "Example: $TEST $symbol test", want: []found{{"TEST", 9, 14}, {"symbol", 15, 22}}},
		{text: "Example: $TEST.T test $symbol_ab end", want: []found{{"TEST.T", 9, 16}, {"symbol_ab", 22, 32}}},
	}
}
