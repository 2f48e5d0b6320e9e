package rules_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"dateline/internal/identity/secret"
	"dateline/platforms"
	"dateline/platforms/network"
)

// What networks publish about videos is checked before the scheduled time.
func TestCheck_ReportsVideosThatNetworksRefuse(t *testing.T) {
	clip := func(change func(*network.MediaInfo)) network.MediaInfo {
		m := network.MediaInfo{
			MIMEType: "video/mp4", Bytes: 5 << 20, Width: 1920, Height: 1080, Duration: 10e9,
			FrameRate: 29.97, VideoCodec: "h264", PixelFormat: "yuv420p", AudioCodec: "aac", AudioRate: 48_000,
		}
		if change != nil {
			change(&m)
		}
		return m
	}
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":[]}`)
	}))
	defer silent.Close()
	var options platforms.Options
	options.Instagram.Sandbox, options.Threads.Sandbox = silent.URL, silent.URL
	registry := platforms.New(http.DefaultClient, options)
	limits := map[string]network.Limits{}
	for _, who := range []string{"mastodon", "instagram", "threads", "x", "telegram", "discord"} {
		adapter, _ := registry.Get(who)
		account := network.Account{RemoteID: "1", Token: secret.NewText("t")}
		if who == "instagram" || who == "threads" {
			account.BaseURL = silent.URL
		}
		var err error
		if d, ok := adapter.(interface{ DefaultLimits() network.Limits }); ok {
			limits[who] = d.DefaultLimits()
		} else if limits[who], err = adapter.Limits(t.Context(), account); err != nil {
			t.Fatalf("%s: %v", who, err)
		}
	}
	for name, c := range map[string]struct {
		clip     network.MediaInfo
		problems map[string]string // by network; empty: none
	}{
		"ordinary": {clip(nil), nil},
		"unknown":  {network.MediaInfo{MIMEType: "video/mp4", Bytes: 5 << 20, Duration: 10e9}, nil},
		"240 fps": {clip(func(m *network.MediaInfo) { m.FrameRate = 240 }), map[string]string{
			"mastodon": "unsupported_frame_rate", "instagram": "unsupported_frame_rate",
			"threads": "unsupported_frame_rate", "x": "unsupported_frame_rate",
		}},
		"120 fps": {clip(func(m *network.MediaInfo) { m.FrameRate = 119.88 }), map[string]string{
			"instagram": "unsupported_frame_rate", "threads": "unsupported_frame_rate", "x": "unsupported_frame_rate",
		}},
		"cinema": {clip(func(m *network.MediaInfo) { m.FrameRate = 23.976 }), nil},
		"time lapse": {clip(func(m *network.MediaInfo) { m.FrameRate = 15 }), map[string]string{
			"instagram": "unsupported_frame_rate", "threads": "unsupported_frame_rate",
		}},
		"4K cinema": {clip(func(m *network.MediaInfo) { m.Width, m.Height = 4096, 2160 }), map[string]string{
			"mastodon": "too_many_pixels", "instagram": "video_too_wide", "threads": "video_too_wide",
		}},
		"4K": {clip(func(m *network.MediaInfo) { m.Width, m.Height = 3840, 2160 }), map[string]string{
			"instagram": "video_too_wide", "threads": "video_too_wide",
		}},
		"upright": {clip(func(m *network.MediaInfo) { m.Width, m.Height = 1080, 1920 }), nil},
		"AV1": {clip(func(m *network.MediaInfo) { m.VideoCodec = "av1" }), map[string]string{
			"instagram": "unsupported_codec", "threads": "unsupported_codec", "x": "unsupported_codec",
		}},
		"HEVC": {clip(func(m *network.MediaInfo) { m.VideoCodec = "hevc" }), map[string]string{
			"x": "unsupported_codec",
		}},
		"Opus": {clip(func(m *network.MediaInfo) { m.AudioCodec = "opus" }), map[string]string{
			"instagram": "unsupported_codec", "threads": "unsupported_codec", "x": "unsupported_codec",
		}},
		"96 kHz": {clip(func(m *network.MediaInfo) { m.AudioRate = 96_000 }), map[string]string{
			"instagram": "unsupported_audio_rate", "threads": "unsupported_audio_rate",
		}},
		"4:2:2": {clip(func(m *network.MediaInfo) { m.PixelFormat = "yuv422p10le" }), map[string]string{
			"instagram": "unsupported_color", "threads": "unsupported_color", "x": "unsupported_color",
		}},
	} {
		for who, allowed := range limits {
			adapter, _ := registry.Get(who)
			var codes []string
			for _, p := range adapter.Check(network.Content{Text: "x", Media: []network.MediaInfo{c.clip}}, allowed) {
				if p.Field != "attachments[0]" {
					continue
				}
				codes = append(codes, p.Code)
			}
			var want []string
			if code := c.problems[who]; code != "" {
				want = []string{code}
			}
			if !slices.Equal(codes, want) {
				t.Errorf("%s on %s: got %v, want %v", name, who, codes, want)
			}
		}
	}
}
