package metadata

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// gif keeps images, their timing, the loop count and the color profile.
// https://www.w3.org/Graphics/GIF/spec-gif89a.txt
func (s *scanner) gif() error {
	g := &gifScanner{scanner: s, in: bufio.NewReaderSize(io.NewSectionReader(s.r, 0, s.size), 64<<10)}
	err := g.walk()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // many GIFs lack their trailer
		return nil
	}
	return err
}

type gifScanner struct {
	*scanner
	in *bufio.Reader
	at int64
}

func (g *gifScanner) take(n int) ([]byte, error) {
	p := make([]byte, n)
	got, err := io.ReadFull(g.in, p)
	g.at += int64(got)
	return p, err
}

func (g *gifScanner) walk() error {
	screen, err := g.take(13)
	if err != nil {
		return err
	}
	if err := g.colors(screen[10]); err != nil {
		return err
	}
	for range maxParts {
		at := g.at
		kind, err := g.take(1)
		if err != nil {
			return err
		}
		switch kind[0] {
		case 0x21:
			if err := g.extension(at); err != nil {
				return err
			}
		case 0x2C:
			if err := g.image(); err != nil {
				return err
			}
		case 0x3B:
			if g.at < g.size {
				g.saw(Other)
				g.plan.cut(g.at, g.size)
			}
			return nil
		default:
			return malformed("it has a block of the unknown kind %d", kind[0])
		}
	}
	return malformed("it has too many blocks")
}

func (g *gifScanner) colors(flags byte) error {
	if flags&0x80 == 0 {
		return nil
	}
	_, err := g.take(3 << (flags&7 + 1))
	return err
}

func (g *gifScanner) image() error {
	descriptor, err := g.take(9)
	if err != nil {
		return err
	}
	if err := g.colors(descriptor[8]); err != nil {
		return err
	}
	if _, err := g.take(1); err != nil { // LZW's minimum code size
		return err
	}
	_, err = g.blocks(0)
	return err
}

// blocks skips sub-blocks and returns the beginning of their content.
func (g *gifScanner) blocks(want int) (head []byte, err error) {
	for {
		length, err := g.take(1)
		if err != nil || length[0] == 0 {
			return head, err
		}
		if len(head) >= want {
			n, err := g.in.Discard(int(length[0]))
			g.at += int64(n)
			if err != nil {
				return head, err
			}
			continue
		}
		body, err := g.take(int(length[0]))
		if err != nil {
			return head, err
		}
		head = append(head, body...)
	}
}

func (g *gifScanner) extension(at int64) error {
	label, err := g.take(1)
	if err != nil {
		return err
	}
	head, err := g.blocks(64 << 10)
	if err != nil {
		g.plan.cut(at, g.size) // cut short: no image follows
		g.saw(Other)
		return err
	}
	switch {
	case label[0] == 0xF9, label[0] == 0x01: // timing; text that is part of the picture
		return nil
	case label[0] == 0xFE:
		g.saw(Description)
	case label[0] == 0xFF && (bytes.HasPrefix(head, []byte("NETSCAPE2.0")) ||
		bytes.HasPrefix(head, []byte("ANIMEXTS1.0")) || bytes.HasPrefix(head, []byte("ICCRGBG1012"))):
		return nil
	case label[0] == 0xFF && bytes.HasPrefix(head, []byte("XMP DataXMP")):
		// Not in sub-blocks, but structured so that readers of sub-blocks skip it.
		packet, err := g.read(at+14, g.at-at-14)
		if err != nil {
			return err
		}
		g.classify(packet, xmpClues())
	default:
		g.saw(Other)
	}
	g.plan.cut(at, g.at)
	return nil
}
