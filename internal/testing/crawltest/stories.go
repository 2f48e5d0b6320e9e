package crawltest

import (
	_ "embed"
	"math/rand/v2"
	"strconv"
	"strings"
)

//go:embed stories_vi.txt
var storiesVI string

//go:embed stories_en.txt
var storiesEN string

// story is a template of articles that people can read. Its paragraphs contain {place},
// {name} and {n}.
type story struct {
	section, title string
	paragraphs     []string // the first one always leads
}

// newsdesk writes readable articles in one language.
type newsdesk struct {
	language      string
	stories       []story
	places, names []string
}

func newsdesks() []newsdesk {
	return []newsdesk{
		{
			"vi", parseStories(storiesVI),
			[]string{
				"Đà Nẵng", "Cần Thơ", "Huế", "Hải Phòng", "Quy Nhơn", "Đà Lạt", "Vinh",
				"Nha Trang", "Buôn Ma Thuột",
			},
			[]string{"Nguyễn Thu Hà", "Trần Minh Khôi", "Lê Bảo Anh", "Phạm Quang Huy", "Võ Ngọc Lan"},
		},
		{
			"en", parseStories(storiesEN),
			[]string{
				"Riverton", "Port Hale", "Ashford", "Lakeside", "Millbrook", "Easton", "Fairview",
			},
			[]string{"Maria Lopez", "Daniel Okafor", "Hannah Berg", "Samir Patel", "Grace Nguyen"},
		},
	}
}

// parseStories reads stories: a line "= section | title", then a paragraph per line.
func parseStories(text string) []story {
	var all []story
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "= "); ok {
			section, title, _ := strings.Cut(head, " | ")
			all = append(all, story{section: section, title: title})
		} else if line != "" && len(all) > 0 {
			last := &all[len(all)-1]
			last.paragraphs = append(last.paragraphs, line)
		}
	}
	return all
}

// write returns the number-th article. The lead is followed by four of the other
// paragraphs in any order.
func (d newsdesk) write(rng *rand.Rand, number int) (section, title, body string) {
	one := d.stories[number%len(d.stories)]
	fill := strings.NewReplacer("{place}", d.places[number/len(d.stories)%len(d.places)], "{name}",
		d.names[rng.IntN(len(d.names))], "{n}", strconv.Itoa(12+rng.IntN(80)))
	paragraphs := []string{fill.Replace(one.paragraphs[0])}
	for _, i := range rng.Perm(len(one.paragraphs) - 1)[:4] {
		paragraphs = append(paragraphs, fill.Replace(one.paragraphs[1+i]))
	}
	return one.section, fill.Replace(one.title), strings.Join(paragraphs, "\n\n")
}
