package remote

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dateline/api/spec"
)

// completeTimeout limits how long a shell waits for values of the instance.
const completeTimeout = 2 * time.Second

// complete returns a completion function with values of the instance. Without an
// instance there are none.
func (o Options) complete(values func(context.Context, *session) ([]string, error)) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		s, err := o.connect(c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(c.Context(), completeTimeout)
		defer cancel()
		all, err := values(ctx, s)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all = slices.DeleteFunc(all, func(v string) bool {
			value, _, _ := strings.Cut(v, "\t")
			return !strings.HasPrefix(value, typed) || slices.Contains(args, value)
		})
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

func (o Options) completeAccounts(
	c *cobra.Command, args []string, typed string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	return o.complete(func(ctx context.Context, s *session) ([]string, error) {
		r, err := s.ListAccounts(ctx)
		if err != nil {
			return nil, err
		}
		var all []string
		for _, a := range r.Value.Accounts {
			if a.Status != spec.Disconnected {
				all = append(all, cobra.CompletionWithDesc(a.Network+":"+a.Handle, shorten(a.Name, 40)))
			}
		}
		return all, nil
	})(c, args, typed)
}

// completePosts returns a completion function with the IDs of posts.
func (o Options) completePosts(of ...string) cobra.CompletionFunc {
	fetch := o.complete(func(ctx context.Context, s *session) ([]string, error) {
		wanted := make([]spec.PostStatus, len(of))
		for i, one := range of {
			wanted[i] = spec.PostStatus(one)
		}
		r, err := s.ListPosts(ctx, &spec.ListPostsParams{Status: &wanted})
		if err != nil {
			return nil, err
		}
		var all []string
		for _, p := range r.Value.Posts {
			all = append(all, cobra.CompletionWithDesc(p.Id.String(), shorten(p.Content, 40)))
		}
		return all, nil
	})
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return fetch(c, args, typed)
	}
}

func (o Options) completeSites(
	c *cobra.Command, args []string, typed string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	return o.complete(func(ctx context.Context, s *session) ([]string, error) {
		r, err := s.ListSites(ctx)
		if err != nil {
			return nil, err
		}
		var all []string
		for _, one := range r.Value.Sites {
			for _, d := range one.Domains {
				all = append(all, cobra.CompletionWithDesc(d, shorten(one.Name, 40)))
			}
		}
		return all, nil
	})(c, args, typed)
}

func (o Options) completeDomains(
	c *cobra.Command, args []string, typed string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	return o.complete(func(ctx context.Context, s *session) ([]string, error) {
		limit := 200
		r, err := s.ListDomains(ctx, &spec.ListDomainsParams{Limit: &limit})
		if err != nil {
			return nil, err
		}
		var all []string
		for _, d := range r.Value.Domains {
			all = append(all, d.Domain)
		}
		return all, nil
	})(c, args, typed)
}

func (o Options) completeProfiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, err := o.loadProfiles()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return profileNames(all), cobra.ShellCompDirectiveNoFileComp
}
