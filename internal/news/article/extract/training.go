package extract

import "context"

// TrainingBlock is a block of a page as the block classifier sees it.
type TrainingBlock struct {
	Text     string
	Features []float32
	Selected bool // by the rules
}

// TrainingBlocks returns the blocks of a page, to train the block classifier on.
func TrainingBlocks(ctx context.Context, p Page) ([]TrainingBlock, error) {
	doc, err := Parse(ctx, p, DefaultLimits())
	if err != nil {
		return nil, err
	}
	r := doc.read(p)
	r.readTitle()
	c := doc.selectByRules(r.a.Title)
	w := c.o.newFeatureBuilder(doc, r.a.Title, c.at, c.isSelected)
	out := make([]TrainingBlock, len(c.o.blocks))
	for i := range out {
		f := w.block(i)
		out[i] = TrainingBlock{Text: c.o.blocks[i].text, Features: f[:], Selected: c.isSelected[i]}
	}
	return out, nil
}
