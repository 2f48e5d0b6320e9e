package extract

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"
)

// signatureOf finds the author below the text, as in Vietnamese papers: the last short
// lines that are right-aligned, named as the author, or begin with a Vietnamese label such
// as "Bài:" or "Ảnh:". lines are not part of the text.
func (o *outline) signatureOf(selected []int) (name string, lines map[int]bool) {
	labeled := false
	var names []string // the last one first
	for k := len(selected) - 1; k >= 0 && k >= len(selected)-4; k-- {
		b := &o.blocks[selected[k]]
		if b.unit != noUnit || b.chars > 140 {
			continue
		}
		credits := isCreditLine(b.text)
		label, _, _ := strings.Cut(b.text, ":")
		if (!credits || isASCII(label)) && (b.chars > 70 || countWords(b.text) > 10 || !o.isRightAligned(b.span) &&
			b.hints&hintByline == 0) {
			continue
		}
		if lines == nil {
			lines = map[int]bool{}
		}
		lines[selected[k]] = true
		strong := ""
		for _, t := range b.texts {
			for p := t.Parent; p != nil && p != b.container.Parent; p = p.Parent {
				if p.DataAtom == atom.Strong || p.DataAtom == atom.B {
					strong = strings.TrimSpace(strong + " " + clean(t.Data))
					break
				}
			}
		}
		if credits {
			strong = ""
		}
		labeled = labeled || credits
		names = append(names, firstOf(strong, b.text))
	}
	if !labeled {
		return firstOf(names...), lines
	}
	slices.Reverse(names)
	return strings.Join(names, "\n"), lines
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c > unicode.MaxASCII })
}

// isRightAligned reports whether the text of an element is right-aligned.
func (o *outline) isRightAligned(at int) bool {
	for up := 0; at >= 0 && up < 2; up++ {
		n := o.spans[at].node
		style := strings.ReplaceAll(strings.ToLower(attr(n, "style")), " ", "")
		if strings.Contains(style, "text-align:right") || strings.EqualFold(attr(n, "align"), "right") {
			return true
		}
		for c := range strings.FieldsSeq(strings.ToLower(attr(n, "class"))) {
			switch c {
			case "text-right", "align-right", "author_mail", "author", "pauthor", "right":
				return true
			}
		}
		if n.DataAtom == atom.P || n.DataAtom == atom.Div {
			return false
		}
		at = o.spans[at].parent
	}
	return false
}
