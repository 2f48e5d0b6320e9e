package wordpress

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// term is a category or a tag.
type term struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

// The kinds of terms, as in paths.
const (
	categories = "categories"
	tags       = "tags"
)

// terms returns the ids of categories or tags. Missing tags are created, categories are not:
// authors may not create them, and a typing error would become a part of the site.
func (w *WordPress) terms(
	ctx context.Context, account network.Account, kind string, names []string,
) ([]int64, error) {
	ids := []int64{}
	for i, name := range names {
		name = norm.NFC.String(strings.TrimSpace(name)) // others are not found
		id, err := w.findTerm(ctx, account, kind, name)
		switch {
		case err != nil:
			return nil, err
		case id == 0 && kind == categories:
			return nil, rejected(fmt.Sprintf("options.categories[%d]", i), "unknown_category",
				"The site has no category “"+name+"”. Create it there or choose another one.")
		case id == 0:
			if id, err = w.createTag(ctx, account, name); err != nil {
				return nil, err
			}
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

const maxPages = 10

// findTerm returns the id of a term by its name or slug; 0: there is none.
func (w *WordPress) findTerm(ctx context.Context, account network.Account, kind, name string) (int64, error) {
	found := int64(0)
	for page := 1; page <= maxPages; page++ {
		res, err := w.do(ctx, account, "/wp/v2/"+kind, url.Values{
			"search": {name}, "per_page": {"100"}, "page": {strconv.Itoa(page)}, "orderby": {"id"},
		}, call.Request{})
		if err != nil {
			return 0, err
		}
		var list []term
		if err := decode(res, &list); err != nil {
			return 0, err
		}
		for _, t := range list {
			if kind == categories && t.Slug == name {
				return t.ID, nil
			}
			if found == 0 && article.Fold(t.Name) == article.Fold(name) {
				found = t.ID
			}
		}
		if len(list) < 100 {
			break
		}
	}
	return found, nil
}

func (w *WordPress) createTag(ctx context.Context, account network.Account, name string) (int64, error) {
	res, err := w.send(ctx, account, "/wp/v2/"+tags, false, map[string]string{"name": name})
	if e := network.AsError(err); e != nil {
		var f errorResponse
		if res != nil && decode(res, &f) == nil && f.Code == "term_exists" && f.Data.TermID != 0 {
			return f.Data.TermID, nil
		}
		return 0, e
	}
	var made term
	if err := decode(res, &made); err != nil || made.ID == 0 {
		return createdID(res)
	}
	return made.ID, nil
}

// createdID reads the id of what was created from the response's Location, which is there
// also if the body cannot be read.
func createdID(res *call.Response) (int64, error) {
	location := strings.TrimRight(res.Header.Get("Location"), "/")
	id, err := strconv.ParseInt(location[strings.LastIndexByte(location, '/')+1:], 10, 64)
	if err != nil {
		return 0, res.MalformedError("it contains no id")
	}
	return id, nil
}
