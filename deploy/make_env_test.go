package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// secret matches the script's secrets: 24 random bytes in hexadecimal.
var secret = regexp.MustCompile(`^[0-9a-f]{48}$`)

// makeEnv runs the script on dir and returns what it wrote there.
func makeEnv(t *testing.T, dir string) string {
	t.Helper()
	output, err := exec.Command("sh", filepath.Join(root, "scripts", "make-env.sh"), dir).CombinedOutput()
	if err != nil {
		t.Fatalf("make-env.sh: %v\n%s", err, output)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("the directory holds %v, want .env and .env.example only", entries)
	}
	path := filepath.Join(dir, ".env")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf(".env has mode %o, want 600", mode)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range parseEnv(string(content)) {
		if secret.MatchString(value) && strings.Contains(string(output), value) {
			t.Errorf("the output shows the secret %s", name)
		}
	}
	return string(content)
}

func write(t *testing.T, dir, name, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func TestMakeEnv(t *testing.T) {
	t.Run("FillsEverySecret", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, ".env.example", readFile(t, ".env.example"), 0o644)
		example, got := parseEnv(readFile(t, ".env.example")), parseEnv(makeEnv(t, dir))
		seen := map[string]string{}
		for name, want := range example {
			if want != "" {
				if got[name] != want {
					t.Errorf("%s is %q, want %q as in the example", name, got[name], want)
				}
				continue
			}
			if !secret.MatchString(got[name]) {
				t.Errorf("%s is not a random secret", name)
			}
			if other, ok := seen[got[name]]; ok {
				t.Errorf("%s and %s share a secret", name, other)
			}
			seen[got[name]] = name
		}
	})

	t.Run("SecondRunChangesNothing", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, ".env.example", readFile(t, ".env.example"), 0o644)
		first := makeEnv(t, dir)
		if second := makeEnv(t, dir); second != first {
			t.Error("the second run changed .env")
		}
	})

	t.Run("KeepsValuesAndAddsWhatIsMissing", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, ".env.example", "# Ports.\nPORT=80\nHOST=here\nOLD=\nEMPTY=\nNEW=\n", 0o644)
		existing := "PORT=81\nOLD=mine\nEMPTY=\n# no newline at the end"
		write(t, dir, ".env", existing, 0o644)
		content := makeEnv(t, dir)
		if !strings.HasPrefix(content, existing+"\n") {
			t.Errorf("existing lines changed:\n%s", content)
		}
		got := parseEnv(content)
		if got["PORT"] != "81" || got["OLD"] != "mine" || got["HOST"] != "here" {
			t.Errorf("got %v, want PORT and OLD kept and HOST added", got)
		}
		if got["EMPTY"] == "" || got["NEW"] == "" {
			t.Errorf("got %v, want secrets for EMPTY and NEW", got)
		}
		if again := makeEnv(t, dir); again != content {
			t.Error("the next run changed .env")
		}
	})
}
