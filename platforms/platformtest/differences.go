package platformtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// Compared is a part of a post that an adapter compares with what the network made of it.
type Compared struct {
	Part    string // of fake.Parts
	Options string // JSON; empty: none
	Images  int
	Reply   bool
	Want    string // code of the difference
}

// testDifferences has the network make each part of a post otherwise than asked. The post
// is published all the same; the receipt names what differs if the adapter compares that
// part, and nothing else.
func testDifferences(t *testing.T, s Subject) {
	for _, part := range fake.Parts() {
		i := slices.IndexFunc(s.Compared, func(c Compared) bool { return c.Part == part })
		c := Compared{Part: part}
		if i >= 0 {
			c = s.Compared[i]
		}
		t.Run(part, func(t *testing.T) { testDifference(t, s, c) })
	}
	t.Run("Several", func(t *testing.T) {
		if len(s.Compared) < 2 {
			return
		}
		sub := comparedSubmission(t, s, Compared{Images: 2})
		clearFaults(t, s)
		for _, part := range []string{fake.PartText, fake.PartMedia} {
			if err := s.Fake.Inject(fake.Fault{Kind: fake.Alter, Part: part, Method: http.MethodPost}); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(s.Fake.ClearFaults)
		receipt, err := s.Network.Publish(t.Context(), s.Account, sub)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{fake.PartText, fake.PartMedia} {
			i := slices.IndexFunc(s.Compared, func(c Compared) bool { return c.Part == part })
			if got := codesOf(receipt); i >= 0 && !slices.Contains(got, s.Compared[i].Want) {
				t.Errorf("got the differences %v, want %s among them", got, s.Compared[i].Want)
			}
		}
	})
}

func testDifference(t *testing.T, s Subject, c Compared) {
	sub := comparedSubmission(t, s, c)
	inject(t, s, fake.Fault{Kind: fake.Alter, Part: c.Part, Method: http.MethodPost, Count: -1})
	receipt, err := s.Network.Publish(t.Context(), s.Account, sub)
	if err != nil || receipt.RemoteID == "" {
		t.Fatalf("Publish: %+v, %v: want the receipt of a post", receipt, err)
	}
	var want []string
	if c.Want != "" {
		want = []string{c.Want}
	}
	if got := codesOf(receipt); !slices.Equal(got, want) {
		t.Errorf("got the differences %v, want %v", got, want)
	}
}

func comparedSubmission(t *testing.T, s Subject, c Compared) network.Submission {
	t.Helper()
	clearFaults(t, s)
	plain := s
	plain.NeedsMedia = s.NeedsMedia && c.Images == 0
	sub := submission(t, plain, "Giá xăng tăng từ 15 giờ hôm nay")
	sub.Language = "vi"
	if c.Options != "" {
		parser, ok := s.Network.(network.OptionParser)
		if !ok {
			t.Fatal("the network has no options")
		}
		options, problems := parser.ParseOptions(json.RawMessage(c.Options))
		if len(problems) > 0 {
			t.Fatalf("ParseOptions: %+v", problems)
		}
		sub.Options = options
	}
	for range c.Images {
		attach(t, s, &sub, "")
	}
	if c.Reply {
		sub.ReplyTo = publish(t, s, submission(t, s, "First of a thread")).RemoteID
	}
	return prepare(t, s, sub)
}

func codesOf(receipt network.Receipt) []string {
	var codes []string
	for _, d := range receipt.Differences {
		codes = append(codes, d.Code)
	}
	return codes
}
