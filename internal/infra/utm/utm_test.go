package utm_test

import (
	"maps"
	"strings"
	"testing"

	"dateline/internal/infra/utm"
)

func TestAddTo_KeepsTheAddressAndItsOwnParameters(t *testing.T) {
	t.Parallel()
	p := utm.Params{"source": "facebook", "medium": "social", "campaign": "bão số 9", "term": ""}
	for address, want := range map[string]string{
		"https://news.example/a":                       "https://news.example/a?utm_source=facebook&utm_medium=social&utm_campaign=b%C3%A3o+s%E1%BB%91+9",
		"https://news.example/a?x=%2f&y#z":             "https://news.example/a?x=%2f&y&utm_source=facebook&utm_medium=social&utm_campaign=b%C3%A3o+s%E1%BB%91+9#z",
		"https://news.example/a?utm_source=newsletter": "https://news.example/a?utm_source=newsletter&utm_medium=social&utm_campaign=b%C3%A3o+s%E1%BB%91+9",
		"http://%zz/":                                  "http://%zz/",
	} {
		if got := p.AddTo(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
	if got := (utm.Params{}).AddTo("https://news.example/"); got != "https://news.example/" {
		t.Errorf("no parameters: got %s", got)
	}
}

func TestMerge_LaterValuesReplaceAndRemove(t *testing.T) {
	t.Parallel()
	account, campaign, post := utm.Params{"source": "x", "medium": "social"}, utm.Params{"campaign": "tet"}, utm.Params{
		"medium": "", "source": "twitter",
	}
	got := account.Merge(campaign).Merge(post)
	if want := (utm.Params{"source": "twitter", "campaign": "tet"}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(account) != 2 {
		t.Errorf("the defaults have changed: %v", account)
	}
}

func TestCheck_NamesTheField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params utm.Params
		code   string
	}{
		"valid":         {utm.Params{"source": "x", "term": ""}, ""},
		"unknown":       {utm.Params{"id": "x"}, "unknown_utm"},
		"long":          {utm.Params{"source": strings.Repeat("ế", 101)}, "utm_too_long"},
		"longest":       {utm.Params{"source": strings.Repeat("ế", 100)}, ""},
		"line break":    {utm.Params{"source": "a\nb"}, "invalid_text"},
		"invalid UTF-8": {utm.Params{"source": "\xff"}, "invalid_text"},
	} {
		problems := c.params.Check("utm")
		if (len(problems) == 0) != (c.code == "") || c.code != "" &&
			(problems[0].Code != c.code || !strings.HasPrefix(problems[0].Field, "utm.")) {
			t.Errorf("%s: got %+v, want %q", name, problems, c.code)
		}
	}
}
