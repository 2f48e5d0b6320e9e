package metadata

import (
	"bytes"
	"encoding/xml"
)

const (
	nsDublinCore = "http://purl.org/dc/elements/1.1/"
	nsPhotoshop  = "http://ns.adobe.com/photoshop/1.0/"
)

// xmpClues are names of properties. ISO 16684-2; IPTC Photo Metadata Standard
// 2023.2; CIPA DC-010
func xmpClues() []clue {
	return []clue{
		{Location, []string{
			"exif:GPS", "GPSLatitude", "GPSLongitude", "photoshop:City", "photoshop:State", "photoshop:Country",
			"Iptc4xmpCore:Location", "Iptc4xmpCore:CountryCode", "Iptc4xmpExt:Location", "Iptc4xmpExt:City",
			"drone-dji:", "LocationShown", "LocationCreated", "geo:lat",
		}},
		{Camera, []string{
			"tiff:Make", "tiff:Model", "aux:", "exifEX:", "exif:FNumber", "exif:ExposureTime",
			"exif:FocalLength",
		}},
		{
			Author, []string{
				"dc:creator", "dc:rights", "photoshop:Credit", "photoshop:Source",
				"photoshop:AuthorsPosition", "CreatorContactInfo", "xmpRights:", "plus:",
			},
		},
		{
			Description, []string{
				"dc:title", "dc:description", "dc:subject", "photoshop:Headline",
				"photoshop:Instructions", "Iptc4xmpCore:Scene", "exif:UserComment",
			},
		},
		{
			Date, []string{
				"xmp:CreateDate", "xmp:ModifyDate", "xmp:MetadataDate", "photoshop:DateCreated",
				"exif:DateTime",
			},
		},
		{Software, []string{"xmp:CreatorTool", "xmpMM:", "stEvt:", "crs:", "tiff:Software"}},
		{Thumbnail, []string{"xmp:Thumbnails", "GDepth:", "GImage:", "Container:Directory"}},
	}
}

// xmp reads a packet.
func (s *scanner) xmp(packet []byte) {
	var alone Credit
	alone.readXMP(packet)
	if bytes.Equal(packet, alone.xmp()) { // written here; its text reveals nothing
		s.saw(Author)
	} else {
		s.classify(packet, xmpClues())
	}
	s.credit.readXMP(packet)
}

// maxXMPTokens bounds the walk over a packet.
const maxXMPTokens = 100_000

// readXMP reads the credit from a packet. Simple properties may be attributes (ISO
// 16684-1, 7.9.2.2).
func (c *Credit) readXMP(packet []byte) {
	d := xml.NewDecoder(bytes.NewReader(packet))
	d.Strict = false
	var property xml.Name // that is open, of those that are wanted
	depth := 0            // inside of it
	var value bytes.Buffer
	take := func() {
		defer value.Reset()
		switch property {
		case xml.Name{Space: nsDublinCore, Local: "creator"}:
			c.creators(sourceXMP, value.String())
		case xml.Name{Space: nsDublinCore, Local: "rights"}:
			c.copyright(sourceXMP, value.String())
		case xml.Name{Space: nsPhotoshop, Local: "Credit"}:
			c.line(sourceXMP, value.String())
		}
	}
	for range maxXMPTokens {
		token, err := d.RawToken()
		if err != nil {
			return
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if resolved(a.Name) == (xml.Name{Space: nsPhotoshop, Local: "Credit"}) {
					c.line(sourceXMP, a.Value)
				}
			}
			if name := resolved(token.Name); property == (xml.Name{}) && name.Space != "" {
				property, depth = name, 0
			} else if property != (xml.Name{}) {
				depth++
			}
			value.Reset()
		case xml.CharData:
			if property != (xml.Name{}) && value.Len() < 4*maxCreditText {
				value.Write(token[:min(len(token), 4*maxCreditText)])
			}
		case xml.EndElement:
			if property == (xml.Name{}) {
				continue
			}
			if len(bytes.TrimSpace(value.Bytes())) > 0 {
				take()
			}
			if depth--; depth < 0 {
				property = xml.Name{}
			}
		}
	}
}

// resolved returns the name of a property with its customary prefix, which every writer
// of XMP uses.
func resolved(name xml.Name) xml.Name {
	switch {
	case name.Space == "dc" && (name.Local == "creator" || name.Local == "rights"):
		return xml.Name{Space: nsDublinCore, Local: name.Local}
	case name.Space == "photoshop" && name.Local == "Credit":
		return xml.Name{Space: nsPhotoshop, Local: name.Local}
	}
	return xml.Name{}
}
