package change

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/crawl/crawltest"
	"dateline/internal/crawl/weburl"
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

func TestHub(t *testing.T) {
	before := NewHub(urls(t, "a", "b", "c"))
	if same := NewHub(urls(t, "c", "a", "b", "a", "a?utm_source=x")); same.Digest() != before.Digest() {
		t.Error("order and repetition change a hub")
	}
	if stored := HubOf(before.Articles()); stored.Digest() != before.Digest() {
		t.Error("a stored hub is another one")
	}
	after := NewHub(urls(t, "b", "c", "d", "e"))
	added, removed := after.Since(before)
	want := NewHub(urls(t, "d", "e")).Articles()
	if after.Digest() == before.Digest() || !slices.Equal(added, want) || !slices.Equal(removed, NewHub(urls(t, "a")).Articles()) {
		t.Errorf("added %v, removed %v", added, removed)
	}
	if added, removed := before.Since(Hub{}); len(added) != 3 || removed != nil {
		t.Error("compared with a hub never seen, all is new")
	}
	if (Hub{}).Digest().IsZero() || (Hub{}).Digest() != NewHub(nil).Digest() {
		t.Error("an empty hub has no digest")
	}
}

func TestArticle(t *testing.T) {
	base := Article("Giá vàng tăng", "Sáng nay.\n\nMỗi lượng.")
	for _, same := range [][2]string{
		{"Giá vàng  tăng ", "\tSáng nay. Mỗi lượng.\n"},
		{"Gia\u0301 va\u0300ng tăng", "Sáng nay.\u00a0Mỗi lượng."},
		{"Giá\u200b vàng tăng\ufeff", "Sáng nay.\r\nMỗi l\u00adượng."},
	} {
		if Article(same[0], same[1]) != base {
			t.Errorf("%q is called another article", same)
		}
	}
	for _, other := range [][2]string{{"Giá vàng giảm", "Sáng nay. Mỗi lượng."}, {"Giá vàng tăng", "Sáng nay. Mỗi lượng"}, {"Giá vàng", "tăng Sáng nay. Mỗi lượng."}, {"", "Giá vàng tăng Sáng nay. Mỗi lượng."}} {
		if Article(other[0], other[1]) == base {
			t.Errorf("%q is called the same article", other)
		}
	}
	// It is stored: it must never change.
	if got := Article("a", "b").String(); got != "59b271ae1bbcb1d31d41929817f4b16fb439eb4f31520b5ad1d5ce98920a7138" {
		t.Errorf("the digest became %s", got)
	}
}

// The same story with a few words edited is near, another of the same site far.
func TestSimHash(t *testing.T) {
	w, err := crawltest.New(crawltest.Options{Articles: 60, Words: 400, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	articles := w.Site(0).Articles()
	edited := 0
	for i, a := range articles {
		hash := SimHashOf(a.Body)
		if reset := strings.ToUpper(strings.ReplaceAll(strings.ReplaceAll(a.Body, ".", " –"), " ", "  ")); SimHashOf(reset) != hash {
			t.Errorf("article %d in capitals and without full stops has another SimHash", a.Number)
		}
		if hash.Near(SimHashOf(a.Body + "\n\nTheo Báo Mẫu")) {
			edited++
		}
		for _, b := range articles[:i] {
			if d := hash.Distance(SimHashOf(b.Body)); d <= Near+3 {
				t.Errorf("articles %d and %d are only %d bits apart", a.Number, b.Number, d)
			}
		}
	}
	if edited < len(articles)*3/4 {
		t.Errorf("of %d articles only %d are near to themselves with a source named at the end", len(articles), edited)
	}
	if short := SimHashOf("Quá ngắn để so sánh"); short != 0 || short.Near(short) {
		t.Error("a short text has a SimHash")
	}
	// It is stored: it must never change.
	if got := SimHashOf(strings.Repeat("một hai ba bốn năm sáu bảy ", 5)); got != 0x47dbe103ec91bdd0 {
		t.Errorf("the SimHash became %#x", uint64(got))
	}
}

// flip changes n different bits.
func flip(lot *rand.Rand, hash SimHash, n int) SimHash {
	for _, bit := range lot.Perm(64)[:n] {
		hash ^= 1 << bit
	}
	return hash
}

// The index finds exactly what looking at all of them finds.
func TestIndex(t *testing.T) {
	lot := rand.New(rand.NewPCG(1, 2))
	x := NewIndex[int]()
	all := map[int]SimHash{}
	for i := range 3000 {
		hash := SimHash(lot.Uint64())
		if i%3 == 1 { // a neighbour
			hash = flip(lot, all[i-1], lot.IntN(6))
		}
		x.Add(i, hash)
		all[i] = hash
	}
	for i := range 3000 {
		switch i % 7 {
		case 3:
			x.Remove(i)
			delete(all, i)
		case 5:
			all[i] = flip(lot, all[i], 2)
			x.Add(i, all[i])
		}
	}
	if x.Len() != len(all) {
		t.Fatalf("%d of %d", x.Len(), len(all))
	}
	for i := range 3000 {
		query := flip(lot, all[i]|1, i%5)
		got := x.Find(query)
		found := map[int]bool{}
		for n, m := range got {
			if found[m.ID] || m.Distance != query.Distance(all[m.ID]) || m.Distance > Near || n > 0 && got[n-1].Distance > m.Distance {
				t.Fatalf("found %+v", got)
			}
			found[m.ID] = true
		}
		for id, hash := range all {
			if (query.Distance(hash) <= Near) != found[id] {
				t.Fatalf("%d is %d bits away, found %v", id, query.Distance(hash), found[id])
			}
		}
	}
	for i := range 3000 {
		x.Remove(i)
	}
	if x.Len() != 0 || len(x.entries) > 64 {
		t.Errorf("%d are left in %d places", x.Len(), len(x.entries))
	}
	x.Add(1, 0)
	if x.Len() != 0 || x.Find(0) != nil {
		t.Error("a text without SimHash is kept")
	}
}

// Whatever three bits differ, one block of 16 stays.
func TestBlocks(t *testing.T) {
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

func FuzzNormal(f *testing.F) {
	f.Add("Giá  vàng\u200b tăng\r\n", "a\u0301\u00ad\u0323")
	f.Fuzz(func(t *testing.T, title, body string) {
		for _, text := range []string{title, body} {
			if once := Normal(text); Normal(once) != once {
				t.Errorf("%q becomes %q, then %q", text, once, Normal(once))
			}
		}
		if Article(title, body) != Article(Normal(title), Normal(body)) {
			t.Error("normal text has another digest")
		}
	})
}

// BenchmarkIndex prints how many times faster the index is than looking at all.
func BenchmarkIndex(b *testing.B) {
	for _, size := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			lot := rand.New(rand.NewPCG(1, 2))
			x := NewIndex[int]()
			all := make([]SimHash, size)
			for i := range all {
				all[i] = SimHash(lot.Uint64())
				x.Add(i, all[i])
			}
			start := time.Now()
			const looks = 20
			for i := range looks {
				query, found := all[i]^5, 0
				for _, hash := range all {
					if query.Distance(hash) <= Near {
						found++
					}
				}
				if found == 0 {
					b.Fatal("not found")
				}
			}
			linear := float64(time.Since(start).Nanoseconds()) / looks
			i := 0
			for b.Loop() {
				if len(x.Find(all[i%size]^5)) == 0 {
					b.Fatal("not found")
				}
				i++
			}
			b.ReportMetric(linear/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "x-linear")
		})
	}
}

func BenchmarkSimHash(b *testing.B) {
	text := strings.Repeat("Giá vàng sáng nay tăng mạnh so với cuối tuần trước theo đà thế giới. ", 40)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		SimHashOf(text)
	}
}
