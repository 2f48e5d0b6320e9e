package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // registers its decoder
	_ "image/jpeg"
	_ "image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"dateline/internal/publishing/media"
	"dateline/internal/publishing/media/metadata"
)

// mediaPart removes the metadata of ExifTool's samples, and reads what is left with ExifTool.
func mediaPart() part {
	return part{name: "media", run: runMedia, packages: []string{"debian:libimage-exiftool-perl=12.57+dfsg-1"}}
}

func runMedia(dir string, show func(string, ...any)) ([]result, error) {
	if _, err := exec.LookPath("exiftool"); err != nil {
		return nil, err
	}
	samples, err := filepath.Glob(filepath.Join(dir, "libimage-exiftool-perl/t/images/*"))
	if err != nil || len(samples) == 0 {
		return nil, errors.Join(err, errors.New("there are no samples"))
	}
	byType := map[string]*result{}
	for _, sample := range samples {
		raw, err := os.ReadFile(sample) //nolint:gosec // just fetched
		if err != nil {
			return nil, err
		}
		name := filepath.Base(sample)
		facts, err := media.Inspect(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			continue // another format, or no complete file
		}
		r := byType[facts.MIMEType]
		if r == nil {
			r = &result{list: facts.MIMEType}
			byType[facts.MIMEType] = r
		}
		plan, err := metadata.Scan(bytes.NewReader(raw), int64(len(raw)), facts.MIMEType, metadata.Options{})
		if errors.Is(err, metadata.ErrMalformed) {
			r.different++ // refused before it is stored
			show("%s: different (refused): %v", name, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		problem, err := checkCleaned(dir, raw, plan)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case problem != "" && facts.MIMEType == "application/pdf" && !strings.Contains(problem, "PDF:"):
			r.different++ // an editor's private data of a page
			show("%s: different (private data): %s", name, problem)
		case problem != "":
			r.failed++
			show("%s: FAILED: %s", name, problem)
		default:
			r.passed++
		}
	}
	var results []result
	for _, r := range byType {
		results = append(results, *r)
	}
	slices.SortFunc(results, func(a, b result) int { return strings.Compare(a.list, b.list) })
	return results, nil
}

// checkCleaned returns what is wrong with a cleaned file: metadata that ExifTool finds, or
// another picture.
func checkCleaned(dir string, raw []byte, plan *metadata.Plan) (problem string, err error) {
	cleaned, err := io.ReadAll(plan.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "cleaned")
	if err := os.WriteFile(path, cleaned, 0o600); err != nil { //nolint:gosec // in its own folder
		return "", err
	}
	out, err := exec.Command("exiftool", "-json", "-G1", "-a", "-ee3", "-n", path).Output() //nolint:gosec // its own file
	var tags []map[string]any
	if err := errors.Join(err, json.Unmarshal(out, &tags)); err != nil || len(tags) != 1 {
		return "", errors.Join(err, fmt.Errorf("exiftool said %.200q", out))
	}
	var left []string
	for tag, value := range tags[0] {
		group, field, ok := strings.Cut(tag, ":")
		isProperty := group == "PDF" && slices.Contains(documentProperties(), field) &&
			strings.TrimSpace(fmt.Sprint(value)) != ""
		if ok && !isStructure(group) || isProperty {
			left = append(left, fmt.Sprintf("%s=%v", tag, value))
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		return "left: " + strings.Join(left, ", "), nil
	}
	before, _, errBefore := image.Decode(bytes.NewReader(raw))
	after, _, errAfter := image.Decode(bytes.NewReader(cleaned))
	if (errBefore == nil) != (errAfter == nil) || errBefore == nil && !samePixels(before, after) {
		return fmt.Sprintf("another picture: %v, %v", errBefore, errAfter), nil
	}
	return "", nil
}

// documentProperties are the fields of a PDF's information, as ExifTool calls them.
func documentProperties() []string {
	return []string{"Author", "Creator", "Producer", "Title", "Subject", "Keywords", "CreateDate", "ModifyDate"}
}

// isStructure reports whether a group of tags describes how a file is built and shown.
func isStructure(group string) bool {
	return slices.Contains([]string{
		"ExifTool", "System", "File", "Composite", "JFIF", "Adobe", "PNG", "PNG-pHYs", "GIF", "RIFF", "PDF", "QuickTime",
	}, group) || strings.HasPrefix(group, "ICC") || strings.HasPrefix(group, "Track")
}

func samePixels(a, b image.Image) bool {
	if a.Bounds() != b.Bounds() {
		return false
	}
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				return false
			}
		}
	}
	return true
}
