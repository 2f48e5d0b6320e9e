package platformtest

import (
	"slices"
	"testing"

	"dateline/platforms/network"
)

func testCounts(t *testing.T, s Subject) {
	for _, row := range s.Counts {
		t.Run(row.Name, func(t *testing.T) {
			if got := s.Network.Count(row.Text, s.Limits); got != row.Want {
				t.Errorf("Count(%q) = %d, want %d", row.Text, got, row.Want)
			}
		})
	}
}

func testCheck(t *testing.T, s Subject) {
	kind := s.ImageType
	if kind == "" {
		kind = "image/png"
	}
	png := network.MediaInfo{MIMEType: kind, Bytes: 100, Width: imageSide, Height: imageSide}
	ok := network.Content{Text: "Fine.", Media: []network.MediaInfo{png}}
	if problems := s.Network.Check(ok, s.Limits); len(problems) > 0 {
		t.Errorf("problems with good content: %+v", problems)
	}
	long := make([]byte, s.Limits.MaxCharacters+1)
	for i := range long {
		long[i] = 'a'
	}
	large, described := png, png
	large.Bytes, described.AltText = s.Limits.MaxImageBytes+1, string(make([]byte, s.Limits.MaxAltText+1))
	var needed []network.MediaInfo
	if s.NeedsMedia {
		needed = append(needed, png)
	}
	for name, row := range map[string]struct {
		content     network.Content
		field, code string
	}{
		"Empty":   {network.Content{Text: " \n"}, "content", "empty"},
		"TooLong": {network.Content{Text: string(long), Media: needed}, "content", "too_long"},
		"TooMany": {
			network.Content{Media: slices.Repeat([]network.MediaInfo{png}, s.Limits.MaxMedia+1)},
			"attachments", "too_many_attachments",
		},
		"Type": {
			network.Content{Media: []network.MediaInfo{png, {MIMEType: "application/x-nonsense"}}},
			"attachments[1]", "unsupported_type",
		},
		"TooLarge":     {network.Content{Media: []network.MediaInfo{large}}, "attachments[0]", "too_large"},
		"LongAltText":  {network.Content{Media: []network.MediaInfo{described}}, "attachments[0]", "alt_text_too_long"},
		"LongestTaken": {network.Content{Text: string(long[1:]), Media: needed}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			problems := s.Network.Check(row.content, s.Limits)
			if row.code == "" {
				if len(problems) > 0 {
					t.Errorf("problems %+v, want none", problems)
				}
				return
			}
			if row.code == "too_large" && s.Limits.MaxImageBytes == 0 || row.code == "alt_text_too_long" &&
				s.Limits.MaxAltText == 0 {
				return // the network has no such limit
			}
			for _, p := range problems {
				if p.Field == row.field && p.Code == row.code && p.Message != "" {
					return
				}
			}
			t.Errorf("problems %+v, want %s on %s", problems, row.code, row.field)
		})
	}
}
