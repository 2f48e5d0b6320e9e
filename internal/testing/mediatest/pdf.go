package mediatest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// PDF returns a document of empty pages, with properties like those of word processors.
// streams puts the objects and the cross-reference
// table in compressed streams, as most programs since PDF 1.5 do.
func PDF(pages int, streams bool) []byte {
	kids := make([]string, pages)
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R/Metadata 4 0 R>>", "",
		fmt.Sprintf("<</Author (%s \\(desk\\))/Title <%x>/Producer (SECRET 1.0)/CreationDate "+
			"(D:20261122234100+07'00')>>", Creator, Note),
	}
	for i := range pages {
		kids[i] = fmt.Sprintf("%d 0 R", i+5)
		objects = append(objects, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents []>>")
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", pages, strings.Join(kids, " "))
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	if streams {
		writePDFStreams(&out, objects)
		return out.Bytes()
	}
	objects = slices.Insert(objects, 3, fmt.Sprintf("<</Type/Metadata/Subtype/XML/Length %d>>\nstream\n%s\nendstream",
		len(XMP()), XMP()))
	offsets := make([]int, len(objects))
	for i, object := range objects {
		offsets[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<</Size %d/Root 1 0 R/Info 3 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return out.Bytes()
}

// writePDFStreams writes objects in one object stream, and a cross-reference stream with
// PNG's filter Up.
func writePDFStreams(out *bytes.Buffer, objects []string) {
	holder, table := len(objects)+2, len(objects)+3
	number := func(i int) int { // 4 is the stream of XMP
		if i >= 3 {
			return i + 2
		}
		return i + 1
	}
	var head, body strings.Builder
	for i, object := range objects {
		fmt.Fprintf(&head, "%d %d ", number(i), body.Len())
		body.WriteString(object + " ")
	}
	holderAt := out.Len()
	packed := deflate([]byte(head.String() + body.String()))
	fmt.Fprintf(out, "%d 0 obj\n<</Type/ObjStm/N %d/First %d/Length %d/Filter/FlateDecode>>\nstream\n%s\n"+
		"endstream\nendobj\n", holder, len(objects), head.Len(), len(packed), packed)
	metadataAt := out.Len()
	packed = deflate(XMP())
	fmt.Fprintf(out, "4 0 obj\n<</Type/Metadata/Subtype/XML/Length %d/Filter[/FlateDecode]>>\nstream\n%s\n"+
		"endstream\nendobj\n", len(packed), packed)
	start := out.Len()
	var rows []byte
	above := make([]byte, 7)
	row := func(kind byte, at, index int) {
		now := append([]byte{kind}, BE32(uint32(at))...)        //nolint:gosec // small
		now = binary.BigEndian.AppendUint16(now, uint16(index)) //nolint:gosec // small
		rows = append(rows, 2)
		for i, b := range now {
			rows = append(rows, b-above[i])
		}
		above = now
	}
	row(0, 0, 65535)
	for i := range objects {
		if i == 3 {
			row(1, metadataAt, 0)
		}
		row(2, holder, i)
	}
	row(1, holderAt, 0)
	row(1, start, 0)
	packed = deflate(rows)
	fmt.Fprintf(out, "%d 0 obj\n<</Type/XRef/Size %d/Root 1 0 R/Info 3 0 R/W[1 4 2]/DecodeParms<</Predictor "+
		"12/Columns 7>>/Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n", table,
		table+1, len(packed), packed, start)
}

func deflate(content []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write(content) // a buffer does not fail
	_ = z.Close()
	return out.Bytes()
}
