package robots

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestParse_RFC9309Cases runs testdata/cases.txt.
func TestParse_RFC9309Cases(t *testing.T) {
	data, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(string(data), "\n== ")[1:]
	if len(cases) < 85 { // those of the RFC itself, and 60 more
		t.Errorf("only %d cases", len(cases))
	}
	for _, one := range cases {
		name, rest, _ := strings.Cut(one, "\n")
		t.Run(name, func(t *testing.T) {
			file, questions, ok := strings.Cut("\n"+rest, "\n--\n")
			if !ok {
				t.Fatal("the case has no check")
			}
			text, err := strconv.Unquote(`"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).
				Replace(strings.TrimPrefix(file, "\n")) + `"`)
			if err != nil {
				t.Fatal(err)
			}
			parsed := Parse([]byte(text))
			for _, question := range strings.Split(strings.TrimSpace(questions), "\n") {
				fields := strings.Fields(question)
				if len(fields) != 3 {
					t.Fatalf("not a check: %q", question)
				}
				verdict := parsed.For(fields[0]).Check(fields[1])
				if verdict.Allowed != (fields[2] == "+") {
					t.Errorf("%s %s: allowed %v by %q", fields[0], fields[1], verdict.Allowed, verdict.Rule)
				}
				if !verdict.Allowed && verdict.Rule == "" {
					t.Errorf("%s %s: no reason", fields[0], fields[1])
				}
			}
		})
	}
}

func TestCheck_ReturnsRule(t *testing.T) {
	a := Parse([]byte("user-agent: *\ndisallow: /tim-kiem # search\nallow: /tim-kiem/tag")).For("x")
	if v := a.Check("/tim-kiem?q=a"); v.Rule != "Disallow: /tim-kiem" {
		t.Errorf("%+v", v)
	}
	if v := a.Check("/tim-kiem/tag/a"); !v.Allowed || v.Rule != "Allow: /tim-kiem/tag" {
		t.Errorf("%+v", v)
	}
}

func TestParse_CrawlDelay(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"5": 5 * time.Second, "0.5": 500 * time.Millisecond, "0,5": 500 * time.Millisecond, "0": 0, "-1": 0, "soon": 0,
		"": 0, "NaN": 0,
		"1e99": 365 * 24 * time.Hour, "Inf": 365 * 24 * time.Hour,
	} {
		if got := Parse([]byte("user-agent: *\ncrawl-delay: " + value)).For("x").CrawlDelay; got != want {
			t.Errorf("%q: %s", value, got)
		}
	}
	// Groups are merged; ours replaces the one for all.
	f := Parse([]byte("user-agent: *\ncrawl-delay: 10\ndisallow: /a\nuser-agent: us\ncrawl-delay: 2\nallow: /\n" +
		"user-agent: us\ncrawl-delay: 3\n"))
	if got := f.For("us").CrawlDelay; got != 3*time.Second {
		t.Errorf("ours: %s", got)
	}
	if got := f.For("x").CrawlDelay; got != 10*time.Second {
		t.Errorf("all: %s", got)
	}
}

func TestParse_Sitemaps(t *testing.T) {
	f := Parse([]byte("Sitemap: https://example.org/a.xml\nuser-agent: x\nsitemap:https://example.org/b.xml # news\n" +
		"sitemap:\nSITEMAP: /c.xml"))
	if got := fmt.Sprint(f.Sitemaps); got != "[https://example.org/a.xml https://example.org/b.xml /c.xml]" {
		t.Error(got)
	}
}

func TestParse_MaxSize(t *testing.T) {
	long := "user-agent: *\ndisallow: /a\n" + strings.Repeat("#\n", MaxSize/2) + "disallow: /b\n"
	a := Parse([]byte(long)).For("x")
	if a.Check("/a").Allowed || !a.Check("/b").Allowed {
		t.Error("the first 500 KiB of a file that is too long do not apply")
	}
	line := "user-agent: *\ndisallow: /" + strings.Repeat("x", 1<<20)
	if a := Parse([]byte(line)).For("x"); !a.Check("/a").Allowed {
		t.Error("a long line disallows everything")
	}
}

// No pattern makes matching slow: backtracking would not end on this one.
func TestCheck_HostilePattern(t *testing.T) {
	a := Parse([]byte("user-agent: *\ndisallow: /" + strings.Repeat("*a", 2000) + "*b$")).For("x")
	if v := a.Check("/" + strings.Repeat("a", 8000)); !v.Allowed {
		t.Error("it matched")
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, "dateline", "/a")
	f.Add([]byte("user-agent:*\rdisallow:%\nallow:/$$*"), "*", "")
	f.Fuzz(func(t *testing.T, data []byte, agent, path string) {
		file := Parse(data)
		a := file.For(agent)
		v := a.Check(path)
		if !v.Allowed && v.Rule == "" {
			t.Error("refused without a reason")
		}
		if again := a.Check(path); again != v {
			t.Error("two results of one check")
		}
		if a.CrawlDelay < 0 {
			t.Error("a negative delay")
		}
		if !a.Check("/robots.txt").Allowed {
			t.Error("robots.txt is disallowed")
		}
		// A normalized pattern does not change.
		if once := normalize(path); normalize(once) != once {
			t.Errorf("%q becomes %q", once, normalize(once))
		}
	})
}
