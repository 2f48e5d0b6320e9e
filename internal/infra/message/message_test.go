package message_test

import (
	"reflect"
	"testing"
	"time"

	"dateline/internal/infra/message"
)

func TestFormat_ReturnsSentenceAndValues(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 23, 41, 0, 0, time.FixedZone("", 7*3600))
	for _, c := range []struct {
		name, template string
		args           []any
		want           string
		params         message.Params
	}{
		{"nothing", "Write something.", nil, "Write something.", nil},
		{
			"values", "{network} counts {used} characters; {network} allows {limit}.",
			[]any{"X", 290, 280},
			"X counts 290 characters; X allows 280.",
			message.Params{"network": "X", "used": 290, "limit": 280},
		},
		{
			"time", "Planned at {planned_at}.",
			[]any{at},
			"Planned at 23:41 on 22 November 2026.",
			message.Params{"planned_at": "2026-11-22T23:41:00+07:00"},
		},
		{
			"duration", "It lasts {length_seconds}.",
			[]any{80300 * time.Millisecond},
			"It lasts 1m20.3s.",
			message.Params{"length_seconds": 80.3},
		},
		{
			"whole duration", "Within {window_seconds}.",
			[]any{5 * time.Minute},
			"Within 5 minutes.",
			message.Params{"window_seconds": 300.0},
		},
		{"size", "It has {size_bytes}.", []any{message.Bytes(3 << 20)}, "It has 3.0 MiB.", message.Params{
			"size_bytes": int64(3 << 20),
		}},
		{
			"one", "{count|image has|images have} no description.",
			[]any{1},
			"1 image has no description.",
			message.Params{"count": 1},
		},
		{
			"many", "{count|image has|images have} no description.",
			[]any{2},
			"2 images have no description.",
			message.Params{"count": 2},
		},
		{"list", "Use {allowed}.", []any{[]string{"a", "b"}}, "Use a, b.", message.Params{
			"allowed": []string{"a", "b"},
		}},
		{"braces in a value", "Not {value}.", []any{"{x}[y]"}, "Not {x}[y].", message.Params{"value": "{x}[y]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, params := message.Format(c.template, c.args...)
			if got != c.want || !reflect.DeepEqual(params, c.params) {
				t.Errorf("got %q %v, want %q %v", got, params, c.want, c.params)
			}
		})
	}
}

func TestFill_OmitsPartsWithoutValues(t *testing.T) {
	t.Parallel()
	values := map[string]string{"handle": "@desk"}
	got := message.Fill("Posted to {handle}[ as {url}][, {late} late].", func(name string) string {
		return values[name]
	})
	if want := "Posted to @desk."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
