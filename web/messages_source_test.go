package web_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dateline/internal/publishing/hostguard"
)

// use is one place in the program that emits a code.
type use struct {
	kind     string // problem, warning, alert, cause, note
	code     string
	field    string // if it is a literal
	template string // "": the sentence has no values
	at       string
}

// constructor is a function that makes a message: the positions of its arguments.
type constructor struct {
	kind                  string
	field, code, template int // -1: none
}

// source finds the codes in the program's source. Helpers that pass their parameters on
// to a constructor are constructors, too.
type source struct {
	t         *testing.T
	files     map[string]*ast.File
	positions *token.FileSet
	constants map[string]string      // by package folder and name, and by name
	known     map[string]constructor // by package folder and name; closures by file, function and name
	function  string                 // that is being read
}

func constructors() map[string]constructor {
	return map[string]constructor{
		"apperr.Field": {"problem", 0, 1, 2}, "apperr.New": {"problem", -1, 1, 2},
		"network.NewViolation": {"problem", 0, 1, 2}, "post.NewWarning": {"warning", -1, 0, 2},
		"message.New": {"note", -1, 0, 1}, "message.One": {"note", -1, 0, 1}, "network.NewNote": {"note", -1, 0, 1},
		"internal/system/status.add": {"alert", -1, 1, 4}, "api.writeProblem": {"problem", -1, 2, -1},
		"platforms/call.newError": {"cause", -1, 2, -1},
	}
}

// literals are the types whose literals have a code.
var literals = map[string]string{
	"apperr.FieldError": "problem", "FieldError": "problem", "apperr.Error": "problem",
	"network.Violation": "problem", "network.Error": "cause", "refusal": "problem", "spec.BulkProblem": "problem",
} //nolint:gochecknoglobals // constant

func parseSource(t *testing.T) *source {
	t.Helper()
	s := &source{
		t: t, files: map[string]*ast.File{}, positions: token.NewFileSet(), constants: map[string]string{},
		known: constructors(),
	}
	for _, root := range []string{"api", "internal", "platforms"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, other := range []string{"/fake/", "/spec/", "/platformtest/", "/testing/", "/graphtest/", "/db/"} {
				if strings.Contains(filepath.ToSlash(path), other) {
					return nil
				}
			}
			file, err := parser.ParseFile(s.positions, path, nil, parser.SkipObjectResolution)
			s.files[filepath.ToSlash(strings.TrimPrefix(path, "../"))] = file
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				for i, name := range spec.Names {
					if i < len(spec.Values) {
						if text, ok := literal(spec.Values[i]); ok {
							s.constants[folder(path)+"."+name.Name] = text
							s.constants[filepath.Base(folder(path))+"."+name.Name] = text
						}
					}
				}
			}
			return true
		})
	}
	for range 3 { // helpers of helpers
		for path, file := range s.files {
			s.findHelpers(path, file)
		}
	}
	return s
}

func folder(path string) string { return filepath.ToSlash(filepath.Dir(path)) }

func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text, true
		}
	case *ast.BinaryExpr:
		if left, ok := literal(e.X); ok && e.Op == token.ADD {
			right, ok := literal(e.Y)
			return left + right, ok
		}
	case *ast.CallExpr:
		if len(e.Args) == 1 {
			return literal(e.Args[0]) // a conversion
		}
	}
	return "", false
}

// text returns the value of a literal or a constant.
func (s *source) text(path string, e ast.Expr) (string, bool) {
	if text, ok := literal(e); ok {
		return text, true
	}
	switch e := e.(type) {
	case *ast.Ident:
		text, ok := s.constants[folder(path)+"."+e.Name]
		return text, ok
	case *ast.SelectorExpr:
		text, ok := s.constants[nameOf(e)]
		return text, ok
	}
	return "", false
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
		return "." + e.Sel.Name
	}
	return ""
}

// constructorOf finds what a call calls: a function of another package, or a helper of
// the file or the package.
func (s *source) constructorOf(path string, call *ast.CallExpr) (constructor, bool) {
	name := nameOf(call.Fun)
	last := name[strings.LastIndex(name, ".")+1:]
	for _, key := range []string{
		name, path + "#" + s.function + "." + last, folder(path) + "." + last,
		"rules." + last,
	} {
		if key == "rules.Add" && !strings.HasPrefix(path, "platforms/") {
			continue
		}
		if c, ok := s.known[key]; ok && c.code < len(call.Args) {
			return c, true
		}
	}
	return constructor{}, false
}

// findHelpers registers functions that take a code as a parameter.
func (s *source) findHelpers(path string, file *ast.File) {
	register := func(key string, function *ast.FuncType, body *ast.BlockStmt) {
		if body == nil || s.known[key].kind != "" {
			return
		}
		params := map[string]int{}
		position := 0
		for _, field := range function.Params.List {
			for _, name := range field.Names {
				params[name.Name] = position
				position++
			}
		}
		of := func(e ast.Expr) int {
			if name, ok := e.(*ast.Ident); ok {
				if position, ok := params[name.Name]; ok {
					return position
				}
			}
			return -1
		}
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if kind, code, field := s.composite(n); kind != "" && of(code) >= 0 {
					s.known[key] = constructor{kind, of(field), of(code), -1}
				}
			case *ast.CallExpr:
				c, ok := s.constructorOf(path, n)
				if !ok || of(n.Args[c.code]) < 0 {
					return true
				}
				made := constructor{c.kind, -1, of(n.Args[c.code]), -1}
				if c.field >= 0 {
					made.field = of(n.Args[c.field])
				}
				if c.template >= 0 && c.template < len(n.Args) {
					made.template = of(n.Args[c.template])
				}
				s.known[key] = made
			}
			return true
		})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			s.function = n.Name.Name
			register(folder(path)+"."+n.Name.Name, n.Type, n.Body)
			if folder(path) == "platforms/rules" && n.Name.Name == "Add" {
				register("rules.Add", n.Type, n.Body)
			}
		case *ast.AssignStmt:
			for i, value := range n.Rhs {
				if function, ok := value.(*ast.FuncLit); ok && i < len(n.Lhs) {
					register(path+"#"+s.function+"."+nameOf(n.Lhs[i]), function.Type, function.Body)
				}
			}
		}
		return true
	})
}

// composite returns the code and the field of a literal that has them.
func (s *source) composite(lit *ast.CompositeLit) (kind string, code, field ast.Expr) {
	name := nameOf(lit.Type)
	if kind = literals[name]; kind == "" {
		return "", nil, nil
	}
	if name == "refusal" && len(lit.Elts) == 3 {
		return kind, lit.Elts[1], nil
	}
	for _, element := range lit.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			switch nameOf(pair.Key) {
			case "Code":
				code = pair.Value
			case "Field":
				field = pair.Value
			}
		}
	}
	if code == nil {
		return "", nil, nil
	}
	return kind, code, field
}

// chosenWhileRunning lists the causes whose code is not a literal at the place that emits
// it: of platforms/call and of package hostguard, the constants of package delivery, and the
// codes of Slack that its adapter explains (platforms/slack, meanings).
func chosenWhileRunning() []string {
	return []string{
		"connection_closed", "connection_failed", "connection_reset", "timeout",
		string(hostguard.CircuitOpen), string(hostguard.Saturated), "not_shown", "token_renewed", "bad_request",
		"account_inactive", "channel_not_found", "invalid_auth", "is_archived", "missing_scope", "not_in_channel",
		"restricted_action", "thread_not_found", "token_revoked",
	}
}

var leafOf = regexp.MustCompile(`\[[^\]]*\]`) //nolint:gochecknoglobals // compiled once

// emitted lists every place that emits a code which is known when the program is compiled.
func (s *source) emitted() []use {
	var all []use
	add := func(kind, path string, n ast.Node, code, field, template ast.Expr) {
		u := use{kind: kind, at: s.positions.Position(n.Pos()).String()}
		var ok bool
		if u.code, ok = s.text(path, code); !ok || u.code == "" {
			return
		}
		if field != nil {
			if text, ok := s.text(path, field); ok {
				text = leafOf.ReplaceAllString(text, "")
				u.field = text[strings.LastIndex(text, ".")+1:]
			}
		}
		if template != nil {
			u.template, _ = s.text(path, template)
		}
		all = append(all, u)
	}
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		ast.Inspect(s.files[path], func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				s.function = n.Name.Name
			case *ast.CompositeLit:
				if array, ok := n.Type.(*ast.ArrayType); ok { // []apperr.FieldError{{…}}
					for _, element := range n.Elts {
						if inner, ok := element.(*ast.CompositeLit); ok && inner.Type == nil {
							if kind, code, field := s.composite(&ast.CompositeLit{
								Type: array.Elt,
								Elts: inner.Elts,
							}); kind != "" {
								add(kind, path, inner, code, field, nil)
							}
						}
					}
				}
				if kind, code, field := s.composite(n); kind != "" {
					add(kind, path, n, code, field, nil)
				}
			case *ast.CallExpr:
				if c, ok := s.constructorOf(path, n); ok {
					at := func(i int) ast.Expr {
						if i < 0 || i >= len(n.Args) {
							return nil
						}
						return n.Args[i]
					}
					add(c.kind, path, n, at(c.code), at(c.field), at(c.template))
				}
			}
			return true
		})
	}
	for _, code := range chosenWhileRunning() {
		all = append(all, use{kind: "cause", code: code, at: "chosen while running"})
	}
	slices.SortFunc(all, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.code, b.code), cmp.Compare(a.at, b.at))
	})
	return all
}
