// Package docs contains the documentation and serves it as a web site that needs no
// other server. `make docs-site` writes the same pages to a folder.
package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

//go:embed *.md tutorial how-to reference explanation vi images screenshots/*.png
var files embed.FS

//go:embed site
var assets embed.FS

// Path is where the program serves the site.
const Path = "/docs/"

// policy allows what the pages consist of, and nothing from other hosts.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Page is an entry of the search index.
type Page struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	Part  string `json:"part"` // tutorial, how-to, reference, explanation or vi
	Text  string `json:"text"`
}

// Options of a site.
type Options struct {
	Base    string // path of its root, which ends with a slash
	Version string
	// Source is the address of the source files, such as
	// https://git.example/dateline/blob/v0.1.0. Without it, links to them are code.
	Source string
}

// Build renders the site: a map of paths to their content.
func Build(o Options) (map[string][]byte, error) {
	layout, err := template.ParseFS(assets, "site/page.html")
	if err != nil {
		return nil, err
	}
	site, index := map[string][]byte{}, []Page{}
	if err := copyAssets(site); err != nil {
		return nil, err
	}
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		if path.Ext(name) != ".md" {
			site[name] = raw
			return nil
		}
		one, err := render(name, o, raw)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var out bytes.Buffer
		if err := layout.Execute(&out, map[string]any{
			"Title": one.Title, "Part": one.Part, "Base": o.Base, "Language": languageOf(name),
			"Version": o.Version, "Body": template.HTML(one.html), //nolint:gosec // the pages of this repository
		}); err != nil {
			return err
		}
		site[htmlName(name)] = out.Bytes()
		index = append(index, one.Page)
		return nil
	})
	if err != nil {
		return nil, err
	}
	site["search.json"], err = json.Marshal(index)
	return site, err
}

func copyAssets(site map[string][]byte) error {
	for _, name := range []string{"style.css", "search.js"} {
		raw, err := assets.ReadFile("site/" + name)
		if err != nil {
			return err
		}
		site[name] = raw
	}
	return nil
}

// vietnamese is the folder of the pages in Vietnamese.
const vietnamese = "vi"

// languageOf returns the language of a page.
func languageOf(name string) string {
	if path.Dir(name) == vietnamese {
		return "vi"
	}
	return "en"
}

// htmlName is the name of the rendered page of a file.
func htmlName(name string) string {
	if name == "README.md" {
		return "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

type rendered struct {
	Page
	html string
}

func render(name string, o Options, raw []byte) (rendered, error) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithXHTML()))
	root := markdown.Parser().Parse(text.NewReader(raw))
	out := rendered{Page: Page{Path: htmlName(name), Part: path.Dir(name)}}
	if out.Part == "." {
		out.Part = ""
	}
	var words strings.Builder
	var toSource []*ast.Link
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 1 && out.Title == "" {
				out.Title = textOf(n, raw)
			}
		case *ast.Link:
			address := target(name, o, string(n.Destination))
			if n.Destination = []byte(address); address == "" {
				toSource = append(toSource, n)
			}
		case *ast.Image:
			n.Destination = []byte(target(name, o, string(n.Destination)))
		case *ast.Text:
			words.Write(n.Segment.Value(raw))
			words.WriteByte(' ')
		case *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				words.Write(line.Value(raw))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return out, err
	}
	if out.Title == "" {
		return out, errors.New("the page has no title")
	}
	for _, link := range toSource {
		link.Parent().ReplaceChild(link.Parent(), link, asCode(link, raw))
	}
	out.Text = strings.Join(strings.Fields(words.String()), " ")
	var body strings.Builder
	err = markdown.Renderer().Render(&body, raw, root)
	// Keyboards scroll only what has the focus.
	out.html = strings.ReplaceAll(body.String(), "<pre>", `<pre tabindex="0">`)
	return out, err
}

func textOf(n ast.Node, raw []byte) string {
	var out strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			out.Write(t.Segment.Value(raw))
		} else {
			out.WriteString(textOf(child, raw))
		}
	}
	return out.String()
}

// asCode returns the text of a link as code.
func asCode(link *ast.Link, raw []byte) ast.Node {
	code := ast.NewString([]byte("<code>" + template.HTMLEscapeString(textOf(link, raw)) + "</code>"))
	code.SetCode(true) // rendered as it is
	return code
}

// target returns the address of a link. Files outside of the documentation are source
// files, which the site does not contain; without their address it returns nothing.
func target(from string, o Options, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "mailto:") {
		return to
	}
	file, fragment, hasFragment := strings.Cut(to, "#")
	name := path.Join(path.Dir(from), file)
	switch {
	case strings.HasSuffix(name, "api/openapi.yaml"):
		return strings.TrimSuffix(o.Base, Path) + "/api/openapi.yaml"
	case strings.HasPrefix(name, "..") && o.Source == "":
		return ""
	case strings.HasPrefix(name, ".."):
		name = strings.TrimPrefix(name, "../")
		o.Base = strings.TrimSuffix(o.Source, "/") + "/"
	case path.Ext(name) == ".md":
		name = htmlName(name)
	}
	address := o.Base + name
	if hasFragment {
		address += "#" + fragment
	}
	return address
}

// Site serves the documentation below Path.
type Site struct {
	// Base is the path of the program's public URL, without a trailing slash.
	Base    string
	Version string
	Source  string // see Options

	once  sync.Once
	pages map[string][]byte
	err   error
}

// ServeHTTP serves a page. They are rendered at the first request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.once.Do(func() { s.pages, s.err = Build(Options{Base: s.Base + Path, Version: s.Version, Source: s.Source}) })
	if s.err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, strings.TrimSuffix(Path, "/"))
	name = strings.TrimPrefix(name, "/")
	if name == "" {
		name = "index.html"
	}
	content, ok := s.pages[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", contentType(name))
	_, _ = w.Write(content) //nolint:gosec // embedded pages
}

func contentType(name string) string {
	types := map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
		".js": "text/javascript; charset=utf-8", ".json": "application/json", ".svg": "image/svg+xml",
		".png": "image/png",
	}
	return types[path.Ext(name)]
}

// Names lists the files of a site, sorted.
func Names(site map[string][]byte) []string {
	names := make([]string, 0, len(site))
	for name := range site {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
