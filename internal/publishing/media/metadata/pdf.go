package metadata

import (
	"errors"

	"dateline/internal/publishing/media/pdf"
)

// pdf removes the properties of a document. Images in it keep their own metadata.
func (s *scanner) pdf() error {
	file, err := pdf.Open(s.r, s.size)
	if err != nil {
		return pdfError(err)
	}
	found, err := file.Properties()
	if err != nil {
		return pdfError(err)
	}
	for _, field := range found.Fields {
		switch field {
		case "Author":
			s.saw(Author)
		case "Title", "Subject", "Keywords":
			s.saw(Description)
		case "Creator", "Producer":
			s.saw(Software)
		case "CreationDate", "ModDate":
			s.saw(Date)
		default:
			s.saw(Other)
		}
	}
	for _, packet := range found.XMP {
		s.classify(packet, append(xmpClues(), clue{Software, []string{"pdf:Producer"}},
			clue{Description, []string{"pdf:Keywords"}}))
	}
	for _, patch := range found.Patches {
		s.plan.overwrite(patch.At, patch.Data)
	}
	return nil
}

func pdfError(err error) error {
	if errors.Is(err, pdf.ErrDamaged) || errors.Is(err, pdf.ErrEncrypted) {
		return malformed("%s", err)
	}
	return err
}
