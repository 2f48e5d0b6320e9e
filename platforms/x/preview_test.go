package x_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"dateline/platforms/network"
	"dateline/platforms/x"
)

func TestLimits_Tier(t *testing.T) {
	n, limits := adapter(t)
	if limits.MaxCharacters != 280 || limits.CharactersPerURL != 23 || limits.MaxMedia != 4 || !limits.SupportsReply {
		t.Errorf("limits %+v", limits)
	}
	long := network.Content{Text: strings.Repeat("ộ", 141)}
	if problems := n.Check(long, limits); len(problems) != 1 ||
		problems[0].Message != "X counts 282 characters; X allows 280." {
		t.Errorf("problems %+v", problems)
	}
	premium, err := n.Limits(t.Context(), network.Account{Settings: map[string]string{"tier": "premium"}})
	if err != nil || premium.MaxCharacters != 25_000 {
		t.Errorf("limits %+v, %v", premium, err)
	}
	if problems := n.Check(long, premium); len(problems) != 0 {
		t.Errorf("problems %+v", problems)
	}
}

func TestCheck_Attachments(t *testing.T) {
	n, limits := adapter(t)
	image := network.MediaInfo{MIMEType: "image/png", Bytes: 5 << 20}
	moving := network.MediaInfo{MIMEType: "image/gif", Bytes: 14 << 20}
	video := network.MediaInfo{MIMEType: "video/mp4", Bytes: 500 << 20}
	large := moving
	large.Bytes = 16 << 20
	for name, row := range map[string]struct {
		media []network.MediaInfo
		codes []string
	}{
		"FourPictures":  {[]network.MediaInfo{image, image, image, image}, nil},
		"GIF":           {[]network.MediaInfo{moving}, nil},
		"Video":         {[]network.MediaInfo{video}, nil},
		"LargeGIF":      {[]network.MediaInfo{large}, []string{"gif_too_large"}},
		"GIFAndPicture": {[]network.MediaInfo{moving, image}, []string{"mixed_gif"}},
		"VideoAndGIF":   {[]network.MediaInfo{video, image}, []string{"mixed_attachments"}},
		"FivePictures":  {[]network.MediaInfo{image, image, image, image, image}, []string{"too_many_attachments"}},
		"Long":          {[]network.MediaInfo{{MIMEType: "video/mp4", Duration: 141e9}}, []string{"too_long_video"}},
		"Short":         {[]network.MediaInfo{{MIMEType: "video/mp4", Duration: 4e8}}, []string{"too_short"}},
		"Audio":         {[]network.MediaInfo{{MIMEType: "audio/mpeg"}}, []string{"unsupported_type"}},
	} {
		t.Run(name, func(t *testing.T) {
			var codes []string
			for _, p := range n.Check(network.Content{Media: row.media}, limits) {
				codes = append(codes, p.Code)
			}
			if !reflect.DeepEqual(codes, row.codes) {
				t.Errorf("problems %v, want %v", codes, row.codes)
			}
		})
	}
}

func TestCheck_Cashtags(t *testing.T) {
	_, limits := adapter(t)
	content := network.Content{Text: "$FPT và $VNM"}
	for allowed, want := range map[int]int{0: 1, 1: 1, 2: 0, -1: 0} {
		n := x.New(http.DefaultClient, x.Options{MaxCashtags: allowed})
		if problems := n.Check(content, limits); len(problems) != want {
			t.Errorf("%d allowed: problems %+v", allowed, problems)
		}
	}
}

func TestPrice(t *testing.T) {
	n, _ := adapter(t)
	described := []network.MediaInfo{{AltText: "a"}, {AltText: "b"}, {}}
	for text, row := range map[string]struct {
		media []network.MediaInfo
		want  int64
	}{
		"Giá xăng tăng":                    {nil, 15_000},
		"Giá xăng tăng https://a.vn":       {nil, 200_000},
		"Giá xăng tăng, đọc vnexpress.net": {nil, 200_000},
		"Trời hôm nay.Việt Nam":            {nil, 200_000}, // nay.Vi is a link to X
		"Ba tấm ảnh":                       {described, 25_000},
	} {
		if price := n.Price(network.Content{Text: text, Media: row.media}); price.MicroUSD != row.want ||
			len(price.Reasons) == 0 {
			t.Errorf("%q costs %+v, want %d", text, price, row.want)
		}
	}
	free := x.New(http.DefaultClient, x.Options{PostPrice: -1, PostWithURL: 7})
	if price := free.Price(network.Content{Text: "t"}); price.MicroUSD != 0 {
		t.Errorf("price %+v", price)
	}
	if price := free.Price(network.Content{Text: "a.vn"}); price.MicroUSD != 7 {
		t.Errorf("price %+v", price)
	}
}

func TestPreview(t *testing.T) {
	n, limits := adapter(t)
	text := "@desk đọc https://www.tuoitre.vn/thoi-su/gia-xang-hom-nay.htm và a.vn/ #HàNội $VNM"
	p := n.Preview(network.Content{Text: text}, limits)
	if want := "@desk đọc tuoitre.vn/thoi-su/gia-xa… và a.vn #HàNội $VNM"; p.Text != want {
		t.Errorf("shown as %q, want %q", p.Text, want)
	}
	var got [][3]string
	for _, s := range p.Spans {
		got = append(got, [3]string{string(s.Kind), p.Text[s.Start:s.End], s.Target})
	}
	if want := [][3]string{
		{"mention", "@desk", "desk"},
		{"link", "tuoitre.vn/thoi-su/gia-xa…", "https://www.tuoitre.vn/thoi-su/gia-xang-hom-nay.htm"},
		{"link", "a.vn", "http://a.vn/"},
		{"tag", "#HàNội", "HàNội"},
		{"tag", "$VNM", "VNM"},
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("spans %q, want %q", got, want)
	}
	if p.Card != "http://a.vn/" || p.FoldAt != 0 || len(p.Notes) != 1 {
		t.Errorf("card %q, fold %d, notes %q", p.Card, p.FoldAt, p.Notes)
	}
	with := n.Preview(network.Content{Text: text, Media: []network.MediaInfo{{}}, Reply: true}, limits)
	if with.Card != "" || len(with.Notes) != 2 {
		t.Errorf("card %q, notes %q", with.Card, with.Notes)
	}
	// 12 emoji of two and a word make 28; ten times that is 280.
	ten := strings.Repeat("👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦abcd",
		10)
	if p := n.Preview(network.Content{Text: ten}, limits); p.FoldAt != 0 {
		t.Errorf("280 are folded at %d", p.FoldAt)
	}
	if p := n.Preview(network.Content{Text: ten + "👍🏽 and more"}, limits); p.FoldAt != len(ten) {
		t.Errorf("folded at %d, want %d", p.FoldAt, len(ten))
	}
	for text, want := range map[string]int{
		"x@desk": 0, "@desk@vn": 0, "@deskđ": 0, "a#b": 0, "#123": 0, "#1a ＃ab": 2,
		"x$AB": 0, "&#ab": 0,
	} {
		if spans := n.Preview(network.Content{Text: text}, limits).Spans; len(spans) != want {
			t.Errorf("%q has %+v, want %d spans", text, spans, want)
		}
	}
}

func TestPreview_OverlappingTagAndLink(t *testing.T) {
	n, limits := adapter(t)
	for text, want := range map[string]string{
		"#日本語example.com/a":      "#日本語example", // X detects example.com too, and the hashtag begins before it
		"example.com/#tag":       "example.com/#tag",
		"#tag,example.com":       "#tag example.com",
		"https://a.vn/@desk#tag": "a.vn/@desk#tag",
		"đọc #️⃣ #a":             "#a",
	} {
		p := n.Preview(network.Content{Text: text}, limits)
		var got []string
		for _, s := range p.Spans {
			got = append(got, p.Text[s.Start:s.End])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
