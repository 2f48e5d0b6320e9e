package pdf

import (
	"bytes"
	"compress/zlib"
	"maps"
	"slices"
)

// Patch replaces bytes of a file by as many others.
type Patch struct {
	At   int64
	Data []byte
}

// Properties are what a document says about itself, in every revision of it that the
// file has.
type Properties struct {
	Fields  []string // of the document information: Author, Producer …
	XMP     [][]byte // packets
	Patches []Patch  // remove all of it
}

// Properties reads the document information and the metadata of the document. ISO
// 32000-2, 14.3
func (f *File) Properties() (Properties, error) {
	var out Properties
	holders := map[int64]*streamed{} // object streams with changed contents, by their place
	for _, r := range f.revisions {
		f.information(r, &out, holders)
		if err := f.metadata(r, &out); err != nil {
			return out, err
		}
	}
	for _, s := range holders {
		patch, err := s.replaced(s.content)
		if err != nil {
			return out, err
		}
		out.Patches = append(out.Patches, patch)
	}
	slices.SortFunc(out.Patches, func(a, b Patch) int { return int(a.At - b.At) })
	return out, nil
}

// information removes the document information of a revision.
func (f *File) information(r revision, out *Properties, holders map[int64]*streamed) {
	switch info := r.trailer["Info"].(type) {
	case dict:
		out.fields(info, r.text)
		out.blank(r.at, r.text, r.strings) // with the file's identifier
	case ref:
		o, err := f.object(r.from, int(info), 0)
		if err != nil {
			return // an entry that leads nowhere says nothing
		}
		d, ok := o.value.(dict)
		if !ok {
			return
		}
		out.fields(d, o.text)
		if o.in == nil {
			out.blank(o.at, o.text, o.strings)
			return
		}
		s := holders[o.in.at]
		if s == nil {
			s = o.in
		}
		before := bytes.Clone(s.content)
		for _, part := range o.strings {
			copy(s.content[o.at:][part.from:part.to], blanked(o.text, part))
		}
		if !bytes.Equal(s.content, before) {
			holders[s.at] = s
		}
	}
}

// metadata removes the XMP packet of a revision's catalog.
func (f *File) metadata(r revision, out *Properties) error {
	catalog, err := f.dict(r.from, r.trailer["Root"])
	if err != nil && r.from == 0 {
		return err
	}
	// The second part of a linearized file has no catalog of its own.
	number, ok := catalog["Metadata"].(ref)
	if !ok {
		return nil
	}
	o, err := f.object(r.from, int(number), 0)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	s, err := f.stream(r.from, o, 0)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(s.content)) == 0 {
		return nil
	}
	out.XMP = append(out.XMP, s.content)
	patch, err := s.replaced(bytes.Repeat([]byte(" "), min(len(s.content), s.length)))
	if err != nil {
		return err
	}
	out.Patches = append(out.Patches, patch)
	return nil
}

// fields adds the fields that say something.
func (p *Properties) fields(d dict, text []byte) {
	for _, field := range slices.Sorted(maps.Keys(d)) {
		if part, ok := d[field].(span); ok && len(bytes.Trim(text[part.from:part.to], " ")) > 0 &&
			!bytes.Equal(text[part.from:part.to], blanked(text, part)) {
			p.Fields = append(p.Fields, field)
		}
	}
}

// blank replaces the strings of a value in the file.
func (p *Properties) blank(at int64, text []byte, strings []span) {
	for _, part := range strings {
		if data := blanked(text, part); !bytes.Equal(data, text[part.from:part.to]) {
			p.Patches = append(p.Patches, Patch{At: at + int64(part.from), Data: data})
		}
	}
}

// blanked returns spaces in place of the content of a string.
func blanked(text []byte, part span) []byte {
	out := bytes.Repeat([]byte(" "), part.to-part.from)
	if text[part.from-1] == '<' {
		for i := range out {
			out[i] = "20"[i%2]
		}
	}
	return out
}

// replaced replaces the content of a stream. What follows compressed data in a stream is
// ignored.
func (s *streamed) replaced(content []byte) (Patch, error) {
	if s.deflated {
		var packed bytes.Buffer
		z, _ := zlib.NewWriterLevel(&packed, zlib.BestCompression) // the level exists
		_, _ = z.Write(content)                                    // a buffer does not fail
		_ = z.Close()
		content = packed.Bytes()
	}
	if len(content) > s.length {
		return Patch{}, ErrDamaged
	}
	return Patch{At: s.at, Data: append(content[:len(content):len(content)], make([]byte, s.length-len(content))...)},
		nil
}
