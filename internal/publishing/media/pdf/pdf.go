// Package pdf reads how many pages a PDF has, and plans how to remove its properties,
// such as the author, without changing its length. It follows the cross-reference tables,
// so that only short ranges are read. ISO 32000-2
package pdf

import (
	"bytes"
	"errors"
	"io"
)

// Limits of what is read.
const (
	maxObject   = 1 << 20  // bytes of one object
	maxStream   = 16 << 20 // bytes of a stream, also decompressed
	maxSections = 64       // cross-reference sections: one per saved change
)

// Errors of files. Others are those of the reader.
var (
	ErrDamaged   = errors.New("its structure is damaged")
	ErrEncrypted = errors.New("it is encrypted")
)

// File is an open PDF.
type File struct {
	r         io.ReaderAt
	size      int64
	sections  []section  // the newest first
	revisions []revision // the newest first
}

// revision is the file as it was saved once: its sections are those from an index on.
type revision struct {
	trailer dict
	at      int64 // where the trailer begins
	text    []byte
	strings []span // of the trailer, in text
	from    int
}

// section is a part of the cross-reference table: a table in text, or a stream.
type section struct {
	first, count int
	at           int64  // of a table: where the entries begin, 20 bytes each
	entries      []byte // of a stream
	widths       [3]int // of a stream: bytes of each field of an entry
}

// Open reads the cross-reference tables of a file.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size}
	tail, err := f.read(max(0, size-2048), 2048)
	if err != nil {
		return nil, err
	}
	last := bytes.LastIndex(tail, []byte("startxref"))
	if last < 0 {
		return nil, ErrDamaged
	}
	p := parser{text: tail, at: last + len("startxref")}
	at, ok := p.integer()
	if !ok {
		return nil, ErrDamaged
	}
	if err := f.readSections(int64(at)); err != nil {
		return nil, err
	}
	if _, encrypted := f.revisions[0].trailer["Encrypt"]; encrypted {
		return nil, ErrEncrypted
	}
	return f, nil
}

// Pages returns the number of pages. ISO 32000-2, 7.7.3
func (f *File) Pages() (int, error) {
	catalog, err := f.dict(0, f.revisions[0].trailer["Root"])
	if err != nil {
		return 0, err
	}
	pages, err := f.dict(0, catalog["Pages"])
	if err != nil {
		return 0, err
	}
	count, err := f.resolve(0, pages["Count"])
	if n, ok := count.(int); err == nil && ok && n > 0 {
		return n, nil
	}
	return 0, errors.Join(ErrDamaged, err)
}

// read reads at most length bytes; fewer where the file ends.
func (f *File) read(at, length int64) ([]byte, error) {
	if at < 0 || at >= f.size {
		return nil, ErrDamaged
	}
	out := make([]byte, min(length, f.size-at))
	if n, err := f.r.ReadAt(out, at); n < len(out) {
		return nil, err
	}
	return out, nil
}

// readSections reads the sections from the newest to the oldest.
func (f *File) readSections(at int64) error {
	for range maxSections {
		from := len(f.sections)
		now, err := f.readSection(at)
		if err != nil {
			return err
		}
		if hybrid, ok := now.trailer["XRefStm"].(int); ok { // for readers that know streams
			if _, err := f.readSection(int64(hybrid)); err != nil {
				return err
			}
		}
		now.from = from
		f.revisions = append(f.revisions, now)
		earlier, ok := now.trailer["Prev"].(int)
		if !ok {
			return nil
		}
		at = int64(earlier)
	}
	return ErrDamaged
}

func (f *File) readSection(at int64) (revision, error) {
	head, err := f.read(at, 32)
	if err != nil {
		return revision{}, err
	}
	if p := (parser{text: head}); p.take("xref") {
		return f.readTable(at + int64(p.at))
	}
	return f.readStreamSection(at)
}

// readTable reads the headings of a table; its entries are read when needed.
func (f *File) readTable(at int64) (revision, error) {
	for range 1 << 16 {
		block, err := f.read(at, 64)
		if err != nil {
			return revision{}, err
		}
		p := parser{text: block}
		if p.take("trailer") {
			return f.readTrailer(at + int64(p.at))
		}
		first, ok1 := p.integer()
		count, ok2 := p.integer()
		if !ok1 || !ok2 || count < 0 {
			return revision{}, ErrDamaged
		}
		p.skipSpace()
		at += int64(p.at)
		f.sections = append(f.sections, section{first: first, count: count, at: at})
		at += 20 * int64(count)
	}
	return revision{}, ErrDamaged
}

func (f *File) readTrailer(at int64) (revision, error) {
	block, err := f.read(at, maxObject)
	if err != nil {
		return revision{}, err
	}
	p := parser{text: block}
	value, err := p.value(0)
	trailer, ok := value.(dict)
	if err != nil || !ok {
		return revision{}, ErrDamaged
	}
	return revision{trailer: trailer, at: at, text: block[:p.at], strings: p.strings}, nil
}

// readStreamSection reads a cross-reference stream. ISO 32000-2, 7.5.8
func (f *File) readStreamSection(at int64) (revision, error) {
	o, err := f.objectAt(at)
	if err != nil {
		return revision{}, err
	}
	trailer, ok := o.value.(dict)
	if !ok || trailer["Type"] != name("XRef") || o.data == 0 {
		return revision{}, ErrDamaged
	}
	stream, err := f.stream(0, o, 1)
	if err != nil {
		return revision{}, err
	}
	entries := stream.content
	var s section
	widths, _ := trailer["W"].([]any)
	if len(widths) != len(s.widths) {
		return revision{}, ErrDamaged
	}
	length := 0
	for i, width := range widths {
		n, ok := width.(int)
		if !ok || n < 0 || n > 8 {
			return revision{}, ErrDamaged
		}
		s.widths[i] = n
		length += n
	}
	index, ok := trailer["Index"].([]any)
	if !ok {
		index = []any{0, trailer["Size"]}
	}
	for ; len(index) > 1; index = index[2:] {
		first, ok1 := index[0].(int)
		count, ok2 := index[1].(int)
		if !ok1 || !ok2 || count < 0 || length == 0 || count > len(entries)/length {
			return revision{}, ErrDamaged
		}
		s.first, s.count, s.entries = first, count, entries[:count*length]
		entries = entries[count*length:]
		f.sections = append(f.sections, s)
	}
	return revision{trailer: trailer, at: at, text: o.text, strings: o.strings}, nil
}

// entry returns the fields of an entry of a cross-reference stream.
func (s section) entry(i int) (kind int, at int64, index int) {
	length := s.widths[0] + s.widths[1] + s.widths[2]
	b := s.entries[i*length:]
	var fields [3]int64
	for n, width := range s.widths {
		for _, one := range b[:width] {
			fields[n] = fields[n]<<8 | int64(one)
		}
		b = b[width:]
	}
	if s.widths[0] == 0 {
		fields[0] = 1
	}
	return int(fields[0]), fields[1], int(fields[2])
}
