package extract

import "context"

// TrainingBlock is a block of a page as the block classifier sees it.
type TrainingBlock struct {
	Text     string
	Features []float32
	Selected bool // by the rules
	Excluded bool // no part of the article in any case
	Kind     int  // the same for similar blocks
	Unit     int  // the same for blocks of a table or list; -1: none
}

// TrainingPage is a page to train the block classifier on.
type TrainingPage struct {
	Blocks       []TrainingBlock
	IsDiscussion bool
}

// LoadTrainingPage returns the blocks of a page.
func LoadTrainingPage(ctx context.Context, p Page) (*TrainingPage, error) {
	doc, err := Parse(ctx, p, DefaultLimits())
	if err != nil {
		return nil, err
	}
	r := doc.read(p)
	r.readTitle()
	c := doc.selectByRules(r.a.Title)
	if c.o.countBytes(c.selected) < minConfidentBytes {
		if static := doc.withoutScripting(ctx, DefaultLimits()); static != nil {
			doc, c = static, static.selectByRules(r.a.Title)
		}
	}
	w := c.o.newFeatureBuilder(doc, r.a.Title, c.at, c.isSelected)
	out := &TrainingPage{Blocks: make([]TrainingBlock, len(c.o.blocks)), IsDiscussion: c.o.isDiscussion}
	excluded := c.excluded(doc, r.a.Title)
	for i := range out.Blocks {
		var f features
		w.block(i, &f)
		out.Blocks[i] = TrainingBlock{
			Text: c.o.blocks[i].text, Features: f[:], Selected: c.isSelected[i],
			Excluded: excluded[i], Kind: w.kindOf[i].first, Unit: c.o.blocks[i].unit,
		}
	}
	return out, nil
}
