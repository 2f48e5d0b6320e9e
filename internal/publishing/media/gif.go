package media

import (
	"bufio"
	"io"
	"time"
)

// gifFrames counts the frames of a GIF without decoding them.
// https://www.w3.org/Graphics/GIF/spec-gif89a.txt
func gifFrames(r io.Reader) (frames int, whole time.Duration, err error) {
	g := gifWalker{bufio.NewReader(r)}
	var screen [13]byte
	if _, err := io.ReadFull(g, screen[:]); err != nil {
		return 0, 0, err
	}
	if err := g.skipTable(screen[10]); err != nil {
		return 0, 0, err
	}
	for {
		kind, err := g.ReadByte()
		if err != nil {
			if frames > 0 {
				return frames, whole, nil // many GIFs lack the trailer; browsers show them
			}
			return 0, 0, err
		}
		switch kind {
		case 0x21: // an extension
			delay, err := g.extension()
			if err != nil {
				return frames, whole, err
			}
			whole += delay
		case 0x2C: // an image
			if err := g.image(); err != nil {
				return frames, whole, err
			}
			frames++
		case 0x3B:
			return frames, whole, nil
		default:
			return frames, whole, errTruncated
		}
	}
}

type gifWalker struct{ *bufio.Reader }

// skipTable skips the color table that the flags announce.
func (g gifWalker) skipTable(flags byte) error {
	if flags&0x80 == 0 {
		return nil
	}
	_, err := g.Discard(3 << (flags&7 + 1))
	return err
}

func (g gifWalker) skipBlocks() error {
	for {
		n, err := g.ReadByte()
		if err != nil || n == 0 {
			return err
		}
		if _, err := g.Discard(int(n)); err != nil {
			return err
		}
	}
}

// extension skips an extension and returns the delay of a graphic control extension.
func (g gifWalker) extension() (time.Duration, error) {
	label, err := g.ReadByte()
	if err != nil {
		return 0, err
	}
	var delay time.Duration
	if label == 0xF9 {
		if control, err := g.Peek(5); err == nil && control[0] == 4 {
			delay = time.Duration(int(control[2])|int(control[3])<<8) * 10 * time.Millisecond
		}
	}
	return delay, g.skipBlocks()
}

func (g gifWalker) image() error {
	var descriptor [9]byte
	if _, err := io.ReadFull(g, descriptor[:]); err != nil {
		return err
	}
	if err := g.skipTable(descriptor[8]); err != nil {
		return err
	}
	if _, err := g.ReadByte(); err != nil { // LZW's minimum code size
		return err
	}
	return g.skipBlocks()
}
