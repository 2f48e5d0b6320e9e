package extract

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// featureCount is the number of features of a block.
const featureCount = 199 + regionFeatureCount

// features describe a block to the block classifier. Their order is part of the trained
// model: after a change, train it again.
type features [featureCount]float32

// featureBuilder computes the features of the blocks of a page.
type featureBuilder struct {
	o        *outline
	at       int         // the element that the rules chose as the body
	selected []bool      // blocks that the rules select
	title    string      // folded
	sums     []blockSums // running sums
	kindOf   []*kindSums
	names    kindNames
	h1       int // block of the headline; -1: none
	page     []float32
	sticky   []hint // hints of an element and everything around it
	tags     []tagSet
	groups   []group // of an element and the two around it
	around   []group // of an element and everything around it
	headings []headingBefore
	same     []int // by block: the first with the same text
	repeats  []int // of the first block with a text
	topics   *topicFinder
	regions  regions
	logs     [1024]float32 // of small numbers; 0: not known yet
}

// blockSums are sums over blocks.
type blockSums struct {
	blocks, chars, links, prose, selected, commas int
}

func (s *blockSums) add(b *block, selected bool) {
	s.blocks++
	s.chars += b.chars
	s.links += b.linkChars
	s.commas += b.punctuation
	if b.isProse() {
		s.prose += b.chars
	}
	if selected {
		s.selected += b.chars
	}
}

func (s *blockSums) minus(o *blockSums) blockSums {
	return blockSums{
		s.blocks - o.blocks, s.chars - o.chars, s.links - o.links, s.prose - o.prose,
		s.selected - o.selected, s.commas - o.commas,
	}
}

// kindSums are sums over the blocks of the same elements with the same class names,
// such as all paragraphs or all teasers of a page.
type kindSums struct {
	blockSums
	first, last int
}

// tagSet is the set of elements around a block that say where it is.
type tagSet uint16

const (
	inArticle tagSet = 1 << iota
	inMain
	inAside
	inHeader
	inFooter
	inNav
	inForm
	inSection
	inFigure
	inLink
)

func (b *block) isProse() bool { return b.chars >= 60 && b.punctuation > 0 && b.linkShare() < 0.4 }

func (o *outline) newFeatureBuilder(d *Document, title string, at int, selected []bool) *featureBuilder {
	w := &featureBuilder{o: o, at: at, selected: selected, title: fold(title), h1: -1}
	w.topics = newTopicFinder()
	n := len(o.blocks)
	w.sums = make([]blockSums, n+1)
	w.kindOf, w.same, w.repeats = make([]*kindSums, n), make([]int, n), make([]int, n)
	kinds, texts := make(map[kind]*kindSums, 128), make(map[string]int, n)
	w.names = kindNames{ids: make(map[kindName]int, 128), bySpan: make([]int, len(o.spans))}
	for i := range o.blocks {
		b := &o.blocks[i]
		w.sums[i+1] = w.sums[i]
		w.sums[i+1].add(b, selected[i])
		key := o.kindOf(b.span, &w.names)
		k := kinds[key]
		if k == nil {
			k = &kindSums{first: i}
			kinds[key] = k
		}
		k.add(b, selected[i])
		k.last = i
		w.kindOf[i] = k
		first, ok := texts[b.text]
		if !ok {
			first = i
			texts[b.text] = i
		}
		w.same[i] = first
		w.repeats[first]++
		if w.h1 < 0 && (b.tag == atom.H1 || isHeading(b.tag) && similarTitles(b.text, title)) {
			w.h1 = i
		}
	}
	w.sticky, w.tags = make([]hint, len(o.spans)), make([]tagSet, len(o.spans))
	for i := range o.spans {
		s := &o.spans[i]
		h, t := s.hints, tagOf(s.node)
		if s.parent >= 0 {
			h |= w.sticky[s.parent]
			t |= w.tags[s.parent]
		}
		if a := s.node.DataAtom; a == atom.Body || a == atom.Html {
			h = 0
		}
		w.sticky[i], w.tags[i] = h, t
	}
	w.groupSpans()
	w.noteHeadings()
	w.page = w.pageFeatures(d)
	w.regions = w.findRegions()
	return w
}

// groupSpans computes the groups of the elements.
func (w *featureBuilder) groupSpans() {
	spans := w.o.spans
	own := make([]group, len(spans))
	w.groups, w.around = make([]group, len(spans)), make([]group, len(spans))
	for i := range spans {
		if a := spans[i].node.DataAtom; a == atom.Body || a == atom.Html {
			continue
		}
		own[i] = w.o.names.groups(&spans[i])
		w.groups[i], w.around[i] = own[i], own[i]
		if up := spans[i].parent; up >= 0 {
			w.groups[i] |= own[up]
			w.around[i] |= w.around[up]
			if up = spans[up].parent; up >= 0 {
				w.groups[i] |= own[up]
			}
		}
	}
}

// isTitle is similarTitles for the title of the page. Nearly all blocks differ in the first
// letter, and are not folded further.
func (w *featureBuilder) isTitle(text string) bool {
	if w.title == "" {
		return false
	}
	rest := w.title
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		if rest == "" { // the text extends the title
			return len(w.title) > 20
		}
		c, size := utf8.DecodeRuneInString(rest)
		if c != unicode.ToLower(r) {
			return false
		}
		rest = rest[size:]
	}
	return rest == "" || len(w.title)-len(rest) > 20
}

// kind identifies the elements around a block: numbers of their names.
type kind [3]int

// kindName is the name of an element and its first class without digits.
type kindName struct{ element, class string }

// kindNames numbers the names of elements.
type kindNames struct {
	ids    map[kindName]int // from 1
	bySpan []int            // 0: not known yet
}

// kindOf returns the kind of an element and the two around it.
func (o *outline) kindOf(span int, names *kindNames) (k kind) {
	for up := 0; span >= 0 && up < len(k); up++ {
		id := names.bySpan[span]
		if id == 0 {
			s := &o.spans[span]
			class := s.firstClass()
			key := kindName{s.node.Data, class[:min(len(class), 60)]}
			if id = names.ids[key]; id == 0 {
				id = len(names.ids) + 1
				names.ids[key] = id
			}
			names.bySpan[span] = id
		}
		k[up] = id
		span = o.spans[span].parent
	}
	return k
}

func tagOf(n *html.Node) tagSet {
	switch n.DataAtom {
	case atom.Article:
		return inArticle
	case atom.Main:
		return inMain
	case atom.Aside:
		return inAside
	case atom.Header:
		return inHeader
	case atom.Footer:
		return inFooter
	case atom.Nav:
		return inNav
	case atom.Form:
		return inForm
	case atom.Section:
		return inSection
	case atom.Figure:
		return inFigure
	case atom.A:
		return inLink
	}
	return 0
}

// block computes the features of a block.
func (w *featureBuilder) block(i int, f *features) {
	o, b := w.o, &w.o.blocks[i]
	all := w.sums[len(w.sums)-1]
	n := copy(f[:], w.page)
	add := func(values ...float32) { n += copy(f[n:], values) }

	// Text.
	words := countWords(b.text)
	firstRune, _ := utf8.DecodeRuneInString(b.text)
	last := b.text[len(b.text)-1]
	add(w.logOf(b.chars), w.logOf(words), b.linkShare32(), w.logOf(b.punctuation), share(b.punctuation*20, b.chars),
		share(b.digits, b.chars), share(b.upper, b.letters+1),
		share(b.ideographs, b.chars), share(b.chars, words), flag(endsSentence(b.text)),
		flag(last == ':'), flag(unicode.IsUpper(firstRune)), flag(unicode.IsLower(firstRune)),
		flag(b.chars < 200 && b.digits > 0 && isDateLine(b.text)),
		flag(b.isBoilerplate()), flag(nameAfterBy(b.text) != ""), flag(w.isTitle(b.text)))
	topics := w.topics.topicsOf(b)
	add(topics[:]...)

	// Element.
	add(flag(b.tag == atom.P), flag(b.tag == atom.Li), flag(b.tag == atom.Div),
		flag(b.tag == atom.Span || b.tag == atom.A), flag(b.tag == atom.H1), flag(b.tag == atom.H2),
		flag(b.tag == atom.H3),
		flag(b.tag == atom.H4 || b.tag == atom.H5 || b.tag == atom.H6), flag(b.tag == atom.Td || b.tag == atom.Th),
		flag(b.tag == atom.Pre),
		flag(b.inList), flag(b.inQuote), flag(b.inTable), flag(b.isBold), flag(b.startsWithLink), flag(b.afterBreak))
	for _, h := range [...]hint{
		hintJunk, hintSuspect, hintBody, hintCaption, hintComment, hintHidden, hintByline,
		hintDate, hintLead,
	} {
		f[n], f[n+1] = flag(b.hints&h != 0), flag(w.sticky[b.span]&h != 0)
		n += 2
	}
	for t := inArticle; t <= inFigure; t <<= 1 {
		f[n] = flag(w.tags[b.span]&t != 0)
		n++
	}
	add(float32(o.spans[b.span].depth), w.logOf(w.repeats[w.same[i]]-1), flag(b.hasPrice()))
	for g := range groupCount {
		f[n], f[n+1] = flag(w.groups[b.span]&(1<<g) != 0), flag(w.around[b.span]&(1<<g) != 0)
		n += 2
	}
	h := &w.headings[i]
	add(h.topics[:]...)
	add(h.level, w.logOf(h.blocks), w.logOf(h.chars), flag(h.closed))

	// Position.
	before := &w.sums[i]
	add(share(i, all.blocks), share(before.chars, all.chars), share(before.prose, all.prose+1))
	if w.h1 >= 0 {
		add(1, w.signedLog(i-w.h1), w.signedLog(before.chars-w.sums[w.h1].chars))
	} else {
		add(0, 0, 0)
	}
	if w.at >= 0 {
		s := &o.spans[w.at]
		switch {
		case i < s.first:
			add(0, -w.logOf(s.first-i), 0)
		case i >= s.end:
			add(0, w.logOf(i-s.end+1), 0)
		default:
			add(1, 0, share(i-s.first, s.end-s.first))
		}
	} else {
		add(0, 0, 0)
	}
	add(flag(w.selected[i]))

	// Blocks around it.
	at := b.span
	for range 3 {
		if at < 0 {
			add(0, 0, 0, 0, 0)
			continue
		}
		s := &o.spans[at]
		at = s.parent
		in := w.sums[s.end].minus(&w.sums[s.first])
		add(w.logOf(in.chars), share(in.links, in.chars), share(in.selected, in.chars), share(in.prose, in.chars),
			w.logOf(in.blocks))
	}
	for _, k := range [...]int{i - 2, i - 1, i + 1, i + 2} {
		if k < 0 || k >= len(o.blocks) {
			add(0, 1, 0)
			continue
		}
		add(w.logOf(o.blocks[k].chars), o.blocks[k].linkShare32(), flag(w.selected[k]))
	}
	nearby := w.sums[min(len(o.blocks), i+6)].minus(&w.sums[max(0, i-5)])
	add(share(nearby.selected, nearby.chars), share(nearby.prose, nearby.chars), share(nearby.links, nearby.chars))
	k := w.kindOf[i]
	add(w.logOf(k.blocks), share(k.chars, all.chars), share(k.links, k.chars), share(k.selected, k.chars),
		share(k.prose, k.chars), share(k.chars, k.blocks*100), share(i-k.first, k.last-k.first+1))
	region := w.regionFeatures(i)
	add(region[:]...)
}

func isIdeographic(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func (b *block) linkShare32() float32 { return float32(b.linkShare()) }

func logOf(n int) float32 { return float32(math.Log1p(float64(max(0, n)))) }

// logOf is logOf with the results for small numbers stored.
func (w *featureBuilder) logOf(n int) float32 {
	if n < 0 || n >= len(w.logs) {
		return logOf(n)
	}
	if w.logs[n] == 0 {
		w.logs[n] = logOf(n)
	}
	return w.logs[n]
}

func (w *featureBuilder) signedLog(n int) float32 {
	if n < 0 {
		return -w.logOf(-n)
	}
	return w.logOf(n)
}

func share(a, b int) float32 {
	if b <= 0 {
		return 0
	}
	return float32(a) / float32(b)
}

func flag(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

// topicCount is the number of topics of lines that publishers insert.
const topicCount = 6

// topicWords are words of newsletters, sharing, legal notices, related articles, comments
// and ads.
func topicWords() [topicCount][]string {
	return [topicCount][]string{
		{"subscri", "newsletter", "sign up", "inbox", "abonn", "suscr", "anmeld", "đăng ký", "assine", "iscriviti"},
		{
			"share", "follow", "facebook", "twitter", "whatsapp", "linkedin", "instagram", "teilen", "compart",
			"chia sẻ", "folgen",
		},
		{
			"©", "copyright", "rights reserved", "cookie", "privacy", "terms", "datenschutz", "impressum", "derechos",
			"bản quyền",
		},
		{
			"related", "read more", "see also", "more from", "lesen sie", "leia", "lee ", "à lire", "xem thêm",
			"recommend", "you may", "mehr zum", "next", "previous",
		},
		{
			"comment", "reply", "kommentar", "comentar", "log in", "login", "bình luận", "commentaire", "posted",
			"register",
		},
		{"advertis", "anzeige", "sponsor", "publicidad", "buy now", "add to cart", "download", "promo"},
	}
}

// topicFinder finds the words of all topics in one pass over a text.
type topicFinder struct {
	second [256]uint64 // by the first byte of a word: the possible second bytes modulo 64
	third  [256]uint64 // the same for the third bytes
	words  [256][]topicWord
}

type topicWord struct {
	text  string
	topic int
}

func newTopicFinder() *topicFinder {
	f := &topicFinder{}
	for topic, words := range topicWords() {
		for _, w := range words {
			f.second[w[0]] |= 1 << (w[1] % 64)
			if len(w) > 2 {
				f.third[w[0]] |= 1 << (w[2] % 64)
			} else {
				f.third[w[0]] = math.MaxUint64
			}
			f.words[w[0]] = append(f.words[w[0]], topicWord{w, topic})
		}
	}
	return f
}

// topicsOf reports which topics a short text has words of.
func (f *topicFinder) topicsOf(b *block) (out [topicCount]float32) {
	if b.chars > 400 {
		return out
	}
	text := b.lower()
	for i := 0; i+1 < len(text); i++ {
		if f.second[text[i]]&(1<<(text[i+1]%64)) == 0 ||
			i+2 < len(text) && f.third[text[i]]&(1<<(text[i+2]%64)) == 0 {
			continue
		}
		for _, w := range f.words[text[i]] {
			if strings.HasPrefix(text[i:], w.text) {
				out[w.topic] = 1
			}
		}
	}
	return out
}

// endsSentence reports whether a text ends with the mark of a sentence or a quote.
func endsSentence(text string) bool {
	return strings.HasSuffix(text, "。") || strings.HasSuffix(text, "”") ||
		strings.ContainsRune(`.!?"`, rune(text[len(text)-1]))
}
