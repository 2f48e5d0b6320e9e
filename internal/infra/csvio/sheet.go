// Package csvio reads and writes rows for spreadsheets: CSV as RFC 4180 has it,
// with what Excel makes of it. Unlike encoding/csv it keeps line ends inside of
// cells as they are, and says where a file is broken.
package csvio

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const byteOrderMark = "\ufeff"

// Read splits text into rows of cells. Rows of other programs are separated by
// semicolons or tabs; what separates the first row decides. Empty lines are
// left out.
func Read(text string) (rows [][]string, err error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("the file is not in UTF-8")
	}
	r := reader{rest: strings.TrimPrefix(text, byteOrderMark)}
	r.separator = separator(r.rest)
	for r.rest != "" {
		row, err := r.row()
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", len(rows)+1, err)
		}
		if len(row) > 1 || row[0] != "" {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// separator is whichever stands most often in the first line, outside of quotes.
func separator(text string) byte {
	count := map[byte]int{}
	quoted := false
	for i := range len(text) {
		switch b := text[i]; {
		case b == '"':
			quoted = !quoted
		case !quoted && (b == '\n' || b == '\r'):
			text = ""
		case !quoted:
			count[b]++
		}
		if text == "" {
			break
		}
	}
	best := byte(',')
	for _, b := range []byte{';', '\t'} {
		if count[b] > count[best] {
			best = b
		}
	}
	return best
}

type reader struct {
	rest      string
	separator byte
}

func (r *reader) row() (cells []string, err error) {
	for {
		cell, err := r.cell()
		if err != nil {
			return nil, err
		}
		cells = append(cells, cell)
		switch {
		case r.rest == "":
			return cells, nil
		case r.rest[0] == r.separator:
			r.rest = r.rest[1:]
		default:
			r.rest = strings.TrimPrefix(strings.TrimPrefix(r.rest, "\r"), "\n")
			return cells, nil
		}
	}
}

// cell reads up to the separator or the line's end, which stay.
func (r *reader) cell() (string, error) {
	if !strings.HasPrefix(r.rest, `"`) {
		end := strings.IndexAny(r.rest, string(r.separator)+"\r\n")
		if end < 0 {
			end = len(r.rest)
		}
		cell := r.rest[:end]
		r.rest = r.rest[end:]
		if strings.Contains(cell, `"`) {
			return "", errors.New("a quotation mark stands in a cell that does not begin with one")
		}
		return cell, nil
	}
	var cell strings.Builder
	rest := r.rest[1:]
	for {
		end := strings.IndexByte(rest, '"')
		if end < 0 {
			return "", errors.New("a quotation mark is not closed")
		}
		cell.WriteString(rest[:end])
		rest = rest[end+1:]
		if !strings.HasPrefix(rest, `"`) {
			break
		}
		cell.WriteByte('"')
		rest = rest[1:]
	}
	if rest != "" && rest[0] != r.separator && rest[0] != '\r' && rest[0] != '\n' {
		return "", errors.New("something stands behind a closing quotation mark")
	}
	r.rest = rest
	return cell.String(), nil
}

// Write appends a row. A row ends with CR LF (RFC 4180, 2).
func Write(to []byte, cells []string) []byte {
	for i, cell := range cells {
		if i > 0 {
			to = append(to, ',')
		}
		if cell == "" && len(cells) > 1 || cell != "" && !strings.ContainsAny(cell, "\",;\t\r\n") {
			to = append(to, cell...)
			continue
		}
		to = append(to, '"')
		to = append(to, strings.ReplaceAll(cell, `"`, `""`)...)
		to = append(to, '"')
	}
	return append(to, '\r', '\n')
}

// What makes a spreadsheet take a cell for a formula
// (https://owasp.org/www-community/attacks/CSV_Injection), also in full width.
const formula = "=+-@\t\r\n＝＋－＠"

// Escape puts an apostrophe before a cell that a spreadsheet could take for a
// formula. Unescape takes it off again, from any text that Escape has made.
func Escape(cell string) string {
	if startsWith(cell, formula) || strings.HasPrefix(cell, "'") && startsWith(cell[1:], formula+"'") {
		return "'" + cell
	}
	return cell
}

// Unescape gives what was given to Escape.
func Unescape(cell string) string {
	if strings.HasPrefix(cell, "'") && startsWith(cell[1:], formula+"'") {
		return cell[1:]
	}
	return cell
}

func startsWith(text, any string) bool {
	first, size := utf8.DecodeRuneInString(text)
	return size > 0 && strings.ContainsRune(any, first)
}
