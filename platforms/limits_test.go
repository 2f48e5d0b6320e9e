package platforms_test

import (
	"net/http"
	"testing"

	"dateline/platforms/facebook"
	"dateline/platforms/linkedin"
	"dateline/platforms/network"
	"dateline/platforms/telegram"
)

// The counter of the composer shows the limit by which a text is refused.
func TestLimitsOf_DependsOnTheContent(t *testing.T) {
	t.Parallel()
	photo := []network.MediaInfo{{MIMEType: "image/jpeg", Bytes: 100, Width: 10, Height: 10}}
	tg, li, fb := telegram.New(http.DefaultClient, telegram.Options{}), linkedin.New(http.DefaultClient,
		linkedin.Options{}), facebook.New(http.DefaultClient, facebook.Options{})
	for name, row := range map[string]struct {
		adapter network.Network
		content network.Content
		want    int
	}{
		"Telegram, message":        {tg, network.Content{}, 4096},
		"Telegram, caption":        {tg, network.Content{Media: photo}, 1024},
		"Telegram, question":       {tg, network.Content{Options: telegram.PostOptions{Poll: &telegram.Poll{}}}, 300},
		"Telegram, reply":          {tg, network.Content{Reply: true}, 4096},
		"LinkedIn, post":           {li, network.Content{}, 3000},
		"LinkedIn, comment":        {li, network.Content{Reply: true}, 1250},
		"Facebook, comment":        {fb, network.Content{Reply: true}, 8000},
		"Facebook, post and photo": {fb, network.Content{Media: photo}, 63206},
	} {
		limits, err := row.adapter.Limits(t.Context(), network.Account{})
		if err != nil {
			t.Fatal(err)
		}
		if got := network.LimitsOf(row.adapter, row.content, limits).MaxCharacters; got != row.want {
			t.Errorf("%s: got %d, want %d", name, got, row.want)
		}
	}
}
