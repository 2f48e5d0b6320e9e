package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/xi2/xz"
)

// postgresVersion is the version of the PostgreSQL programs in the archives, which
// github.com/zonkyio/embedded-postgres-binaries builds: PostgreSQL License and Apache-2.0.
const postgresVersion = "17.5.0"

// maxPostgres limits the size of an unpacked file.
const maxPostgres = 256 << 20

// postgresBuild returns the name of the build for a platform, and the SHA-256 of its file.
func postgresBuild(t target) (name, sum string) {
	switch t.String() {
	case "linux_amd64":
		return "linux-amd64", "646f3269075d1a23904127374e3cdbcef96beb32979fedee25d835877400fcbe"
	case "linux_arm64":
		return "linux-arm64v8", "e02f27ff50ff2d90b6541d54f3f108505aacd84ea53c2890e976a684bfea2752"
	case "darwin_amd64":
		return "darwin-amd64", "fb70f783928e77c3d6ef5ca8ed644f1ac502f740fcfc032a375c8347820f2bdd"
	case "darwin_arm64":
		return "darwin-arm64v8", "e9d3398e10c2ec926395498b03e75ad1a24eeaed82895e756a7e173b202cf6de"
	}
	return "", ""
}

// postgres unpacks the PostgreSQL programs for a platform into dir. The file is
// downloaded once and has to have the known checksum.
func (r *release) postgres(ctx context.Context, t target, dir string) error {
	name, sum := postgresBuild(t)
	if name == "" {
		return fmt.Errorf("there is no build of PostgreSQL for %s", t)
	}
	file := "embedded-postgres-binaries-" + name + "-" + postgresVersion + ".jar"
	path := filepath.Join(r.cache, file)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = download(ctx, "https://repo1.maven.org/maven2/io/zonky/test/postgres/embedded-postgres-binaries-"+name+"/"+postgresVersion+"/"+file)
	}
	if err != nil {
		return err
	}
	if got := sha256.Sum256(raw); hex.EncodeToString(got[:]) != sum {
		return fmt.Errorf("%s has the SHA-256 %x, want %s", file, got, sum)
	}
	if err := errors.Join(os.MkdirAll(r.cache, 0o755), os.WriteFile(path, raw, 0o644)); err != nil { //nolint:gosec // public
		return err
	}
	return unpackPostgres(raw, dir)
}

func download(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, maxPostgres))
}

// unpackPostgres unpacks a zip file that contains one .txz file.
func unpackPostgres(raw []byte, dir string) error {
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return err
	}
	for _, f := range archive.File {
		if !strings.HasSuffix(f.Name, ".txz") {
			continue
		}
		packed, err := f.Open()
		if err != nil {
			return err
		}
		defer func() { _ = packed.Close() }()
		unpacked, err := xz.NewReader(packed, 0)
		if err != nil {
			return err
		}
		return unpackTar(unpacked, dir)
	}
	return errors.New("the file contains no .txz")
}

func unpackTar(from io.Reader, dir string) error {
	for t := tar.NewReader(from); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("the archive contains the path %q", h.Name)
		}
		if strings.HasSuffix(h.Name, ".a") || strings.HasPrefix(h.Name, "include/") {
			continue // for development
		}
		path := filepath.Join(dir, h.Name)                             //nolint:gosec // local, see above
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // installed files are readable by everyone
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755) //nolint:gosec // likewise
		case tar.TypeSymlink:
			if !filepath.IsLocal(filepath.Join(filepath.Dir(h.Name), h.Linkname)) { //nolint:gosec // this is the check
				return fmt.Errorf("the archive contains the link %q", h.Linkname)
			}
			err = os.Symlink(h.Linkname, path)
		case tar.TypeReg:
			err = writeFile(path, t, h.FileInfo().Mode().Perm()|0o644)
		}
		if err != nil {
			return err
		}
	}
}

func writeFile(path string, from io.Reader, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.LimitReader(from, maxPostgres))
	return errors.Join(err, f.Close())
}
