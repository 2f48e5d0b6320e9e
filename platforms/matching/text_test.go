package matching_test

import (
	"testing"

	"dateline/platforms/matching"
	"dateline/platforms/network"
)

func TestText_Verdict(t *testing.T) {
	for name, row := range map[string]struct {
		sent, listed string
		want         matching.Verdict
	}{
		"Equal":            {"Giá vàng tăng", "Giá vàng tăng", matching.Same},
		"Decomposed":       {"Ba\u0309n tin", "Bản tin", matching.Same},
		"Escapes":          {`\*not bold\* and \_not italic\_`, "*not bold* and _not italic_", matching.Same},
		"Emphasis":         {"an *only* child", "an only child", matching.Same},
		"Entities":         {"R&amp;D &copy; 2026", "R&D © 2026", matching.Same},
		"EntityOfAnEntity": {"&amp;copy;", "&copy;", matching.Same},
		"Quotes":           {`"so" - he said...`, "“so” – he said…", matching.Same},
		"List":             {"- one\n- two", "one\ntwo", matching.Same},
		"Heading":          {"# News\nToday", "News\nToday", matching.Same},
		"Link":             {"Read [more](https://a.vn/1) now", "Read more now", matching.Same},
		"SchemeAndSlash":   {"See https://www.A.vn/ now", "See https://a.vn now", matching.Same},
		"Tag":              {"<b>Bold</b> move", "Bold move", matching.Same},
		"WhiteSpace":       {"a\n\n\nb  c", "a\nb c", matching.Same},
		"Empty":            {"", "", matching.Same},
		"OtherLink": {
			"Read https://a.vn/1 about the flood", "Read https://a.vn/2 about the flood", matching.Unclear,
		},
		"OtherNumber": {
			"Giá xăng tăng 500 đồng từ 15 giờ", "Giá xăng tăng 700 đồng từ 15 giờ", matching.Unclear,
		},
		"OtherSign": {"VN-Index +1%", "VN-Index -1%", matching.Unclear},
		"CutOff": {
			"The harbour master retires in spring after thirty years", "The harbour master retires in…",
			matching.Unclear,
		},
		"Extended": {
			"The harbour master retires", "The harbour master retires (via Courier, paid post)",
			matching.Unclear,
		},
		"Emoji":      {"🔥🔥", "❤️", matching.Unclear},
		"OnlyLinks":  {"https://a.vn/1", "https://a.vn/2", matching.Unclear},
		"HiddenText": {"Short one", "", matching.Unclear},
		"OtherText": {
			"The harbour master retires in spring", "Football: the cup final ends in a draw",
			matching.Different,
		},
		"OtherVietnamese": {
			"Hà Nội mưa lớn, nhiều tuyến phố ngập sâu", "Đội tuyển nữ Việt Nam thắng đậm ở vòng loại",
			matching.Different,
		},
		"OtherWithTheSameLink": {
			"Lịch thi đấu hôm nay https://a.vn/x", "Giá cà phê lập đỉnh https://a.vn/x", matching.Different,
		},
		"PictureAloneAndText":    {"", "The harbour master retires", matching.Different},
		"LongTextAndPicture":     {"The harbour master retires in spring", "", matching.Different},
		"OtherChinese":           {"河内大雨多条街道被淹没", "越南女足大胜晋级决赛圈", matching.Different},
		"PartlyTheSameInChinese": {"河内大雨多条街道被淹没", "河内大雨多条街道被淹", matching.Unclear},
	} {
		t.Run(name, func(t *testing.T) {
			if got := matching.NewComparer(row.sent).Compare(row.listed); got != row.want {
				t.Errorf("Text(%q, %q): got %d, want %d", row.sent, row.listed, got, row.want)
			}
			if got, want := matching.NewComparer(row.listed).Compare(row.sent), row.want; got != want {
				t.Errorf("Text(%q, %q): got %d, want %d", row.listed, row.sent, got, want)
			}
		})
	}
}

func TestKey_CoversWhatAListingShows(t *testing.T) {
	base := network.Submission{Text: "R&amp;D \\*budget\\*", MediaIDs: []string{"1"}, ReplyTo: "7"}
	same := network.Submission{Text: "R&D *budget*", MediaIDs: []string{"2"}, ReplyTo: "7", Key: "other"}
	if string(matching.Key(base)) != string(matching.Key(same)) {
		t.Error("got two keys for posts that a listing shows alike, want one")
	}
	for name, other := range map[string]network.Submission{
		"Text":    {Text: "R&D cuts", MediaIDs: []string{"1"}, ReplyTo: "7"},
		"Media":   {Text: base.Text, ReplyTo: "7"},
		"ReplyTo": {Text: base.Text, MediaIDs: []string{"1"}},
	} {
		if string(matching.Key(base)) == string(matching.Key(other)) {
			t.Errorf("%s: got one key, want two", name)
		}
	}
}

// The comparison is symmetric, and a text is always the same as itself.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a", "\\*", "&amp;", "https://www.", "🔥\uFE0F", "[a](b)", "\xff", "1. x\n- y"} {
		f.Add(s, s+"x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if matching.NewComparer(a).Compare(a) != matching.Same {
			t.Fatalf("%q is not the same as itself", a)
		}
		if there, back := matching.NewComparer(a).Compare(b), matching.NewComparer(b).Compare(a); there != back {
			t.Fatalf("Text(%q, %q) = %d, the other way %d", a, b, there, back)
		}
	})
}
