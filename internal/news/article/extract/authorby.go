package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameAfterBy returns the name after "By" at the start of a line.
func nameAfterBy(s string) string {
	if s == "" {
		return ""
	}
	starts := byStarts(s[0])
	if starts == "" {
		return ""
	}
	for p := range strings.SplitSeq(starts, "|") {
		if rest, ok := strings.CutPrefix(s, p); ok {
			rest = strings.TrimLeft(rest, " :\u00a0")
			if first, _ := utf8.DecodeRuneInString(rest); unicode.IsLower(first) && isShortBy(p) {
				continue // "di" and "av" also start sentences
			}
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// byStarts returns what announces a name at the start of a line, by the first byte, separated by bars.
func byStarts(first byte) string {
	switch first {
	case 'A':
		return "Author: |Author:|Author |AUTHOR |Autor: |Autor:|Autorin: |Autoren: |Auteur : |Av |Af "
	case 'B':
		return "By |BY |By: |BY: |By:|Bài: |Bài và ảnh: "
	case 'b':
		return "by |by: "
	case 'D':
		return "Di |Door "
	case 'd':
		return "di |door "
	case 'E':
		return "Ein Beitrag von |Ein Artikel von |Ein Kommentar von |Eine Analyse von |Escrito por "
	case 'G':
		return "Geschrieben von "
	case 'P':
		return "Posted by|Posted By|Published by|Por |POR |Publicado por |Par |PAR |Propos recueillis par |Publié par "
	case 'p':
		return "por |par "
	case 'Q':
		return "Quelle: "
	case 'R':
		return "Reviewed by"
	case 'S':
		return "Story by"
	case 'T':
		return "Text by|Tác giả: |Theo |Thực hiện: |Text: |Text von |Texto: "
	case 'V':
		return "Von |VON |Verfasst von |Veröffentlicht von "
	case 'v':
		return "von "
	case 'W':
		return "Written by|Written By|WRITTEN BY|Words by"
	case "А"[0]:
		return "Автор: "
	}
	return ""
}

// isShortBy reports whether a prefix is an ordinary word, which must be followed by a
// capital.
func isShortBy(p string) bool { return len(p) <= 5 && p != "By " && p != "by " && p != "BY " }
