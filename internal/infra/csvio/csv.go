// Package csvio reads and writes CSV files (RFC 4180) of spreadsheets, including the
// variants of Excel. Unlike encoding/csv, it preserves line breaks within cells and
// reports the line of an error.
package csvio

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	unicodeencoding "golang.org/x/text/encoding/unicode"
)

// ByteOrderMark at the start of a file tells Excel that it is UTF-8; without it, Excel
// reads Vietnamese in the code page of the machine.
const ByteOrderMark = "\ufeff"

// Row is a row of a file.
type Row struct {
	Line  int // of the file where it begins, from 1
	Cells []string
}

// Read splits a file into rows. It detects commas, semicolons and tabs as separators, or
// reads the separator from a first line such as "sep=;", which Excel understands. Rows
// without content are skipped: spreadsheets write their whole used range. Files are UTF-8,
// or UTF-16 with a byte order mark, as Excel saves "Unicode Text".
func Read(file string) (rows []Row, err error) {
	text, err := decode(file)
	if err != nil {
		return nil, err
	}
	r := reader{rest: text, line: 1}
	r.skipSeparatorLine()
	if r.separator == 0 {
		r.separator = separator(r.rest)
	}
	for r.rest != "" {
		line := r.line
		cells, err := r.row()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", r.line, err)
		}
		if slices.ContainsFunc(cells, func(cell string) bool { return Trim(cell) != "" }) {
			rows = append(rows, Row{line, cells})
		}
	}
	return rows, nil
}

// decode returns the text of a file without its byte order mark.
func decode(file string) (string, error) {
	if strings.HasPrefix(file, "\xff\xfe") || strings.HasPrefix(file, "\xfe\xff") {
		text, err := unicodeencoding.UTF16(unicodeencoding.LittleEndian, unicodeencoding.ExpectBOM).NewDecoder().
			String(file)
		if err != nil {
			return "", errors.New("the file is not valid UTF-16")
		}
		return text, nil
	}
	if !utf8.ValidString(file) {
		return "", errors.New("the file is not valid UTF-8: save it as CSV UTF-8")
	}
	return strings.TrimPrefix(file, ByteOrderMark), nil
}

// Trim removes spaces and invisible characters around a cell, also those that web pages
// and word processors bring along, such as no-break and zero-width spaces.
func Trim(cell string) string {
	return strings.TrimFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
}

// separator returns the most frequent separator in the first line that has text, outside
// of quotes.
func separator(text string) byte {
	text = strings.TrimLeft(text, "\r\n")
	count := map[byte]int{}
	quoted := false
	for i := range len(text) {
		b := text[i]
		if !quoted && (b == '\n' || b == '\r') {
			break
		}
		if b == '"' {
			quoted = !quoted
		} else if !quoted {
			count[b]++
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

// skipSeparatorLine reads a first line such as "sep=;".
func (r *reader) skipSeparatorLine() {
	const prefix = "sep="
	first, rest := r.rest, ""
	if end := strings.IndexAny(r.rest, "\r\n"); end >= 0 {
		first, rest = r.rest[:end], r.rest[end:]
	}
	if len(first) != len(prefix)+1 || !strings.EqualFold(first[:len(prefix)], prefix) {
		return
	}
	r.separator, r.rest = first[len(prefix)], rest
	r.endLine()
}

type reader struct {
	rest      string
	separator byte
	line      int // of rest
}

// endLine consumes the end of a line.
func (r *reader) endLine() {
	if r.rest != "" {
		r.line++
	}
	if rest, ok := strings.CutPrefix(r.rest, "\r"); ok {
		r.rest = rest
	}
	r.rest = strings.TrimPrefix(r.rest, "\n")
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
			r.endLine()
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
	r.line += lineBreaks(cell.String())
	return cell.String(), nil
}

// lineBreaks counts the line breaks of a cell.
func lineBreaks(cell string) int {
	return strings.Count(cell, "\n") + strings.Count(cell, "\r") - strings.Count(cell, "\r\n")
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
