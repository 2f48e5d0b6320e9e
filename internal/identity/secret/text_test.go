package secret_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"dateline/internal/identity/secret"
)

const plain = "correct-horse"

func hidden(t *testing.T, how, printed string) {
	t.Helper()
	for _, leak := range []string{plain, fmt.Sprintf("%x", plain), fmt.Sprintf("%X", plain)} {
		if strings.Contains(printed, leak) {
			t.Errorf("%s shows the secret: %s", how, printed)
		}
	}
}

type holder struct {
	Shown  secret.Text `json:"shown"`
	hidden secret.Text
}

func TestText_IsNeverPrinted(t *testing.T) {
	text := secret.NewText(plain)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%o", "%T", "%p", "%w"} {
		for _, value := range []any{
			text, &text,
			holder{text, text},
			&holder{text, text},
			[]secret.Text{text},
			map[string]any{"a": text},
			map[string]holder{"a": {text, text}},
		} {
			hidden(t, fmt.Sprintf("%s of %T", verb, value), fmt.Sprintf(verb, value))
		}
	}
	hidden(t, "Print", fmt.Sprint(text, holder{text, text}))
	hidden(t, "an error", fmt.Errorf("calling with %v: %w", text, errors.New("refused")).Error())
	if got := fmt.Sprint(text); got != "[redacted]" {
		t.Errorf("printed %q", got)
	}
}

func TestText_IsNeverLoggedOrMarshaled(t *testing.T) {
	text := secret.NewText(plain)
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var out bytes.Buffer
		slog.New(handler(&out)).Info("connecting", "token", text, "pointer", &text, "within", holder{text, text},
			slog.Group("g", "token", text))
		hidden(t, name, out.String())
		if !strings.Contains(out.String(), "[redacted]") {
			t.Errorf("%s: %s", name, out.String())
		}
	}
	raw, err := json.Marshal(map[string]any{"token": text, "within": holder{text, text}})
	if err != nil {
		t.Fatal(err)
	}
	hidden(t, "JSON", string(raw))
	raw, err = xml.Marshal(holder{text, text})
	if err != nil {
		t.Fatal(err)
	}
	hidden(t, "XML", string(raw))
}

func TestText_Reveal(t *testing.T) {
	if got := secret.NewText(plain).Reveal(); got != plain {
		t.Errorf("got %q", got)
	}
	var none secret.Text
	if none.Reveal() != "" || !none.Empty() || !secret.NewText("").Empty() || secret.NewText(plain).Empty() {
		t.Error("Empty is wrong")
	}
}
