package ghost

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// reference is a tag or an author.
type reference struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Slug  string `json:"slug"`
	Email string `json:"email"`
}

// The kinds of objects, as in paths and bodies.
const (
	posts = "posts"
	tags  = "tags"
	users = "users"
)

func idsOf(list []reference) []string {
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	return ids
}

// pageSize is the most that Ghost returns.
const pageSize = 100

// page returns a page of tags or users.
func (g *Ghost) page(
	ctx context.Context, account network.Account, kind string, number int, filter string,
) ([]reference, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}, "page": {strconv.Itoa(number)}}
	if filter != "" {
		query.Set("filter", filter)
	}
	res, err := g.do(ctx, account, "/"+kind+"/", query, call.Request{})
	if err != nil {
		return nil, err
	}
	return list[reference](res, kind)
}

// tags returns the ids of tags, in their order: the first is the primary one. Missing ones
// are created.
func (g *Ghost) tags(ctx context.Context, account network.Account, names []string) ([]string, error) {
	ids := []string{}
	for _, name := range names {
		name = strings.Join(strings.Fields(norm.NFC.String(name)), " ")
		id, err := g.tag(ctx, account, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// tag finds or creates a tag. The site's database may compare names without case and accents;
// a tag with the same letters as slug can have another name. Filters escape quotes only, so
// that a backslash at the end would hide the quote after it
// (https://github.com/TryGhost/NQL/blob/main/packages/nql-lang/src/nql.l).
func (g *Ghost) tag(ctx context.Context, account network.Account, name string) (string, error) {
	filter := "name:'" + strings.NewReplacer(`'`, `\'`, `"`, `\"`).Replace(strings.TrimRight(name, `\`)) + "'"
	if slug := article.Words(name); slug != "" {
		filter += ",slug:'" + slug + "'"
	}
	found, err := g.page(ctx, account, tags, 1, filter)
	if err != nil {
		return "", err
	}
	for _, same := range []func(reference) bool{
		func(t reference) bool { return t.Name == name },
		func(t reference) bool { return article.Fold(t.Name) == article.Fold(name) },
		func(t reference) bool { return t.Slug == name },
	} {
		if i := slices.IndexFunc(found, same); i >= 0 {
			return found[i].ID, nil
		}
	}
	made, res, err := write[reference](ctx, g, account, "/tags/", call.Request{Method: http.MethodPost}, tags,
		map[string]string{"name": name})
	if err == nil && made.ID == "" {
		err = res.MalformedError("it contains no id")
	}
	return made.ID, err
}

const maxPages = 10

// authors returns the ids of authors, who must exist.
func (g *Ghost) authors(ctx context.Context, account network.Account, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	var known []reference
	for number := 1; number <= maxPages; number++ {
		found, err := g.page(ctx, account, users, number, "")
		if err != nil {
			return nil, err
		}
		known = append(known, found...)
		if len(found) < pageSize {
			break
		}
	}
	var ids []string
	for i, name := range names {
		found := slices.IndexFunc(known, func(u reference) bool {
			return u.Slug == name || strings.EqualFold(u.Email, name) || article.Fold(u.Name) == article.Fold(name)
		})
		if found < 0 {
			return nil, rejected(fmt.Sprintf("options.authors[%d]", i), "unknown_author",
				"The site has no author “"+name+"”. Invite the author there or choose another one.")
		}
		if id := known[found].ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
