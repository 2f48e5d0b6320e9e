package check

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The image is small, runs as nobody, and is reproducible.
func TestDockerfile(t *testing.T) {
	raw, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, want := range []string{
		"FROM scratch", "USER 65532:65532", "-trimpath", "-buildvcs=false", "-buildid=",
		"CGO_ENABLED=0", "GOTOOLCHAIN=local",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^FROM (?:--platform=\S+ )?(\S+)`).FindAllStringSubmatch(text, -1) {
		if m[1] != "scratch" && !regexp.MustCompile(`:\d+\.\d+\.\d+`).MatchString(m[1]) {
			t.Errorf("%s has no exact version", m[1])
		}
	}
	ignored, err := os.ReadFile("../../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".env", ".git"} {
		if !strings.Contains("\n"+string(ignored), "\n"+want+"\n") {
			t.Errorf("%s gets into the build", want)
		}
	}
}
