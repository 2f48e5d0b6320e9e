package media

// codecName returns ffprobe's name for the type of a sample entry
// (https://mp4ra.org/registered-types/codecs).
func codecName(fourCC string) string {
	switch fourCC {
	case "avc1", "avc3":
		return "h264"
	case "hvc1", "hev1", "dvh1", "dvhe":
		return "hevc"
	case "av01":
		return "av1"
	case "vp08":
		return "vp8"
	case "vp09":
		return "vp9"
	case "mp4v":
		return "mpeg4"
	case "jpeg", "mjpa", "mjpb":
		return "mjpeg"
	case "apch", "apcn", "apcs", "apco", "ap4h", "ap4x":
		return "prores"
	case "mp4a":
		return "aac"
	case "Opus":
		return "opus"
	case "fLaC":
		return "flac"
	case ".mp3", "mp3 ":
		return "mp3"
	case "ac-3":
		return "ac3"
	case "ec-3":
		return "eac3"
	case "sowt":
		return "pcm_s16le"
	case "twos":
		return "pcm_s16be"
	}
	name := make([]byte, 0, 4)
	for _, c := range []byte(fourCC) {
		if c > ' ' && c < 0x7f {
			name = append(name, c)
		}
	}
	if len(name) == 0 {
		return "unknown"
	}
	return string(name)
}
