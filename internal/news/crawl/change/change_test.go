package change

import (
	"slices"
	"strings"
	"testing"

	"dateline/internal/news/crawl/weburl"
	"dateline/internal/testing/crawltest"
)

func urls(t testing.TB, paths ...string) []weburl.URL {
	var all []weburl.URL
	for _, path := range paths {
		u, err := weburl.Parse("https://example.org/"+path, weburl.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, u)
	}
	return all
}

func TestHubDigest_IgnoresOrderAndTemplate(t *testing.T) {
	before := HubDigest(urls(t, "a", "b", "c"))
	if HubDigest(urls(t, "c", "a", "b", "a", "a?utm_source=x")) != before {
		t.Error("order and repetition change a hub")
	}
	for _, other := range [][]string{{"b", "c"}, {"a", "b", "c", "d"}, {"b", "c", "d"}, nil} {
		if HubDigest(urls(t, other...)) == before {
			t.Errorf("a hub of %v counts as unchanged", other)
		}
	}
	if HubDigest(nil) == (Digest{}) {
		t.Error("an empty hub has no digest")
	}
	// The digest is stored: it must never change.
	if got := before.String(); got != "343388947d05d6df04e43d72e6ebdc7df743c2b19ed0acf59e3e090049ee7040" {
		t.Errorf("the digest became %s", got)
	}
}

func TestArticleDigest_IgnoresInvisibleDifferences(t *testing.T) {
	base := ArticleDigest("Giá vàng tăng", "Sáng nay.\n\nMỗi lượng.")
	for _, same := range [][2]string{
		{"Giá vàng  tăng ", "\tSáng nay. Mỗi lượng.\n"},
		{"Gia\u0301 va\u0300ng tăng", "Sáng nay.\u00a0Mỗi lượng."},
		{"Giá\u200b vàng tăng\ufeff", "Sáng nay.\r\nMỗi l\u00adượng."},
	} {
		if ArticleDigest(same[0], same[1]) != base {
			t.Errorf("%q counts as another article", same)
		}
	}
	for _, other := range [][2]string{
		{"Giá vàng giảm", "Sáng nay. Mỗi lượng."},
		{"Giá vàng tăng", "Sáng nay. Mỗi lượng"},
		{"Giá vàng", "tăng Sáng nay. Mỗi lượng."},
		{"", "Giá vàng tăng Sáng nay. Mỗi lượng."},
	} {
		if ArticleDigest(other[0], other[1]) == base {
			t.Errorf("%q counts as the same article", other)
		}
	}
	// The digest is stored: it must never change.
	if got := ArticleDigest("a", "b").
		String(); got != "59b271ae1bbcb1d31d41929817f4b16fb439eb4f31520b5ad1d5ce98920a7138" {
		t.Errorf("the digest became %s", got)
	}
}

// An article with a few edited words has a similar hash, another article of the same
// site a different one.
func TestSimHash_FindsEditedCopy(t *testing.T) {
	w, err := crawltest.New(crawltest.Options{Articles: 60, BodyWords: 400, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	articles := w.Site(0).Articles()
	edited := 0
	for i, a := range articles {
		hash := SimHashOf(a.Body)
		if reset := strings.ToUpper(strings.ReplaceAll(strings.ReplaceAll(a.Body, ".", " –"), " ", "  ")); SimHashOf(
			reset) != hash {
			t.Errorf("article %d in capitals and without full stops has another SimHash", a.Number)
		}
		if hash.IsNear(SimHashOf(a.Body + "\n\nTheo Báo Mẫu")) {
			edited++
		}
		for _, b := range articles[:i] {
			if d := hash.Distance(SimHashOf(b.Body)); d <= MaxNearDistance+3 {
				t.Errorf("articles %d and %d are only %d bits apart", a.Number, b.Number, d)
			}
		}
	}
	if edited < len(articles)*3/4 {
		t.Errorf("of %d articles only %d are near to themselves with a source named at the end", len(articles), edited)
	}
	if short := SimHashOf("Quá ngắn để so sánh"); short != 0 || short.IsNear(short) {
		t.Error("a short text has a SimHash")
	}
	// The hash is stored: it must never change.
	if got := SimHashOf(strings.Repeat("một hai ba bốn năm sáu bảy ", 5)); got != 0x47dbe103ec91bdd0 {
		t.Errorf("the SimHash became %#x", uint64(got))
	}
}

// Whichever three bits differ, one block of 16 stays the same.
func TestSimHash_BlocksFindNearHashes(t *testing.T) {
	for a := range 64 {
		for b := range a {
			for c := range b {
				hash := SimHash(1)<<a | 1<<b | 1<<c
				if !slices.Contains(slices.Collect(func(yield func(uint16) bool) {
					for _, block := range hash.Blocks() {
						if !yield(block) {
							return
						}
					}
				}), 0) {
					t.Fatalf("bits %d, %d and %d", a, b, c)
				}
			}
		}
	}
}

func FuzzNormalizeText(f *testing.F) {
	f.Add("Giá  vàng\u200b tăng\r\n", "a\u0301\u00ad\u0323")
	f.Fuzz(func(t *testing.T, title, body string) {
		for _, text := range []string{title, body} {
			if once := NormalizeText(text); NormalizeText(once) != once {
				t.Errorf("%q becomes %q, then %q", text, once, NormalizeText(once))
			}
		}
		if ArticleDigest(title, body) != ArticleDigest(NormalizeText(title), NormalizeText(body)) {
			t.Error("normal text has another digest")
		}
	})
}

func BenchmarkSimHash(b *testing.B) {
	text := strings.Repeat("Giá vàng sáng nay tăng mạnh so với cuối tuần trước theo đà thế giới. ", 40)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		SimHashOf(text)
	}
}
