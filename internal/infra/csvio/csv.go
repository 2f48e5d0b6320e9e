// Package csvio reads and writes CSV files (RFC 4180) of spreadsheets, including the
// variants of Excel. Unlike encoding/csv, it preserves line breaks within cells and
// reports the row of an error.
package csvio

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const byteOrderMark = "\ufeff"

// Read splits text into rows of cells. It detects commas, semicolons and tabs as
// separators from the first row, and skips empty lines.
func Read(text string) (rows [][]string, err error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("the file is not valid UTF-8")
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

// separator returns the most frequent separator in the first line, outside of quotes.
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

// cell reads up to the separator or the end of the line, without consuming it.
func (r *reader) cell() (string, error) {
	if !strings.HasPrefix(r.rest, `"`) {
		end := strings.IndexAny(r.rest, string(r.separator)+"\r\n")
		if end < 0 {
			end = len(r.rest)
		}
		cell := r.rest[:end]
		r.rest = r.rest[end:]
		if strings.Contains(cell, `"`) {
			return "", errors.New("a quotation mark in an unquoted cell")
		}
		return cell, nil
	}
	var cell strings.Builder
	rest := r.rest[1:]
	for {
		end := strings.IndexByte(rest, '"')
		if end < 0 {
			return "", errors.New("unterminated quotation mark")
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
		return "", errors.New("text after a closing quotation mark")
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

// formula contains the first characters of formulas, including full-width forms
// (https://owasp.org/www-community/attacks/CSV_Injection).
const formula = "=+-@\t\r\n＝＋－＠"

// Escape prefixes a cell that a spreadsheet could interpret as a formula with an
// apostrophe. Unescape reverses it.
func Escape(cell string) string {
	if startsWith(cell, formula) || strings.HasPrefix(cell, "'") && startsWith(cell[1:], formula+"'") {
		return "'" + cell
	}
	return cell
}

// Unescape reverses Escape.
func Unescape(cell string) string {
	if strings.HasPrefix(cell, "'") && startsWith(cell[1:], formula+"'") {
		return cell[1:]
	}
	return cell
}

func startsWith(text, chars string) bool {
	first, size := utf8.DecodeRuneInString(text)
	return size > 0 && strings.ContainsRune(chars, first)
}
