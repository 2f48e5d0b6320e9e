package pdf

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"strconv"
)

// streamed is a stream with where its data are.
type streamed struct {
	content  []byte // decompressed
	at       int64
	length   int
	deflated bool
}

// stream reads the stream of an object. from is the first section of its revision.
func (f *File) stream(from int, o object, depth int) (streamed, error) {
	d, ok := o.value.(dict)
	if !ok || o.data == 0 {
		return streamed{}, ErrDamaged
	}
	value := d["Length"]
	if number, isRef := value.(ref); isRef {
		found, err := f.object(from, int(number), depth)
		if err != nil {
			return streamed{}, err
		}
		value = found.value
	}
	length, ok := value.(int)
	if !ok || length < 0 || length > maxStream {
		return streamed{}, ErrDamaged
	}
	raw, err := f.read(o.data, int64(length))
	if err != nil {
		return streamed{}, err
	}
	s := streamed{content: raw, at: o.data, length: length}
	switch single(d["Filter"]) {
	case nil:
		return s, nil
	case name("FlateDecode"):
		s.deflated = true
	default:
		return streamed{}, ErrDamaged
	}
	z, err := zlib.NewReader(bytes.NewReader(raw))
	if err != nil {
		return streamed{}, ErrDamaged
	}
	s.content, err = io.ReadAll(io.LimitReader(z, maxStream+1))
	if err != nil || len(s.content) > maxStream {
		return streamed{}, ErrDamaged
	}
	parms, _ := single(d["DecodeParms"]).(dict)
	if predictor, _ := parms["Predictor"].(int); predictor >= 10 {
		columns, _ := parms["Columns"].(int)
		s.content, err = unpredict(s.content, max(columns, 1))
	}
	return s, err
}

// single returns the only element of a list, or the value itself.
func single(value any) any {
	if list, ok := value.([]any); ok && len(list) == 1 {
		return list[0]
	}
	return value
}

// unpredict reverses the filters of PNG, of which streams of bytes use none, Sub and Up.
func unpredict(content []byte, columns int) ([]byte, error) {
	if len(content)%(columns+1) != 0 {
		return nil, ErrDamaged
	}
	out := make([]byte, 0, len(content))
	above := make([]byte, columns)
	for ; len(content) > 0; content = content[columns+1:] {
		row := bytes.Clone(content[1 : columns+1])
		for i := range row {
			switch content[0] {
			case 0:
			case 1:
				if i > 0 {
					row[i] += row[i-1]
				}
			case 2:
				row[i] += above[i]
			default:
				return nil, ErrDamaged
			}
		}
		out, above = append(out, row...), row
	}
	return out, nil
}

// dict returns the dictionary that a value refers to.
func (f *File) dict(from int, value any) (dict, error) {
	value, err := f.resolve(from, value)
	if d, ok := value.(dict); ok {
		return d, err
	}
	return nil, errors.Join(ErrDamaged, err)
}

func (f *File) resolve(from int, value any) (any, error) {
	number, ok := value.(ref)
	if !ok {
		return value, nil
	}
	o, err := f.object(from, int(number), 0)
	return o.value, err
}

// object is an object with where it is.
type object struct {
	number  int
	value   any
	at      int64 // in the file; of an object in a stream: in its content
	text    []byte
	strings []span    // of the value, in text
	data    int64     // where its stream begins; 0: it has none
	in      *streamed // the object stream that has it; nil: the file
}

// object reads an object by its number, in the revision with the given first section.
func (f *File) object(from, number, depth int) (object, error) {
	if depth > 2 { // an object stream whose length is in an object stream …
		return object{}, ErrDamaged
	}
	for _, s := range f.sections[from:] {
		i := number - s.first
		if i < 0 || i >= s.count {
			continue
		}
		if s.entries == nil {
			entry, err := f.read(s.at+20*int64(i), 20)
			if err != nil {
				return object{}, err
			}
			if len(entry) < 18 {
				return object{}, ErrDamaged
			}
			at, err := strconv.ParseInt(string(bytes.TrimSpace(entry[:10])), 10, 64)
			if err != nil {
				return object{}, ErrDamaged
			}
			if entry[17] == 'n' {
				return f.numbered(number, at)
			}
			continue // an older section may have it, as in hybrid files
		}
		switch kind, at, index := s.entry(i); kind {
		case 1:
			return f.numbered(number, at)
		case 2:
			return f.inStream(from, int(at), index, depth)
		}
	}
	return object{}, ErrDamaged
}

func (f *File) numbered(number int, at int64) (object, error) {
	o, err := f.objectAt(at)
	if err == nil && o.number != number {
		err = ErrDamaged
	}
	return o, err
}

// objectAt reads the object at an offset.
func (f *File) objectAt(at int64) (object, error) {
	block, err := f.read(at, maxObject)
	if err != nil {
		return object{}, err
	}
	p := parser{text: block}
	number, ok1 := p.integer()
	_, ok2 := p.integer()
	if !ok1 || !ok2 || !p.take("obj") {
		return object{}, ErrDamaged
	}
	o := object{number: number, at: at}
	if o.value, err = p.value(0); err != nil {
		return object{}, err
	}
	o.text, o.strings = block[:p.at], p.strings
	if p.take("stream") {
		for _, end := range []byte{'\r', '\n'} {
			if rest := p.rest(); len(rest) > 0 && rest[0] == end {
				p.at++
			}
		}
		o.data = at + int64(p.at)
	}
	return o, nil
}

// inStream reads an object of an object stream. ISO 32000-2, 7.5.7
func (f *File) inStream(from, number, index, depth int) (object, error) {
	holder, err := f.object(from, number, depth+1)
	if err != nil {
		return object{}, err
	}
	s, err := f.stream(from, holder, depth+1)
	if err != nil {
		return object{}, err
	}
	d, _ := holder.value.(dict)
	first, _ := d["First"].(int)
	head := parser{text: s.content}
	at := -1
	for range index + 1 {
		_, ok1 := head.integer()
		offset, ok2 := head.integer()
		if at = first + offset; !ok1 || !ok2 || offset < 0 || first < 0 || at > len(s.content) {
			return object{}, ErrDamaged
		}
	}
	p := parser{text: s.content[at:]}
	value, err := p.value(0)
	return object{number: number, value: value, at: int64(at), text: s.content[at:][:p.at], strings: p.strings, in: &s},
		err
}
