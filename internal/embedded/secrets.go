package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// secret returns the stored password of that name and creates it the first time. Only
// its owner can read the file.
func (h *Host) secret(name string) (string, error) {
	path := h.path("secrets", name)
	text, err := os.ReadFile(path)
	if err == nil && strings.TrimSpace(string(text)) != "" {
		return strings.TrimSpace(string(text)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the password of an engine: %w", err)
	}
	value := rand.Text()
	// Write to a temporary file and rename it, so that a crash leaves no partial file.
	if err := os.WriteFile(path+".new", []byte(value+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the password of an engine: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return "", fmt.Errorf("keep the password of an engine: %w", err)
	}
	return value, nil
}
