package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dateline/api/spec"
	"dateline/client"
)

// posts groups the commands for existing posts.
func (o Options) posts() *cobra.Command {
	group := Group("posts", "list, show, watch, edit, cancel and retry posts")
	group.AddCommand(o.listPosts(), o.showPosts(), o.watchPost(), o.editPost(),
		o.onPost("cancel ID", "cancel a post that is not published yet",
			func(ctx context.Context, s *session, p *spec.Post) (body []byte, after *spec.Post, err error) {
				r, err := s.CancelPost(ctx, p.Id, &spec.CancelPostParams{IfMatch: version(p)})
				if err != nil {
					return nil, nil, err
				}
				return r.Body, r.Value, nil
			}),
		o.onPost("retry ID", "publish the failed targets of a post again",
			func(ctx context.Context, s *session, p *spec.Post) (body []byte, after *spec.Post, err error) {
				r, err := s.RetryPost(ctx, p.Id, &spec.RetryPostParams{IfMatch: version(p)}, spec.TargetChoice{})
				if err != nil {
					return nil, nil, err
				}
				return r.Body, r.Value, nil
			}),
		o.onPost("publish-now ID", "publish a scheduled post or a draft at once",
			func(ctx context.Context, s *session, p *spec.Post) (body []byte, after *spec.Post, err error) {
				r, err := s.PublishNow(ctx, p.Id, &spec.PublishNowParams{IfMatch: version(p)})
				if err != nil {
					return nil, nil, err
				}
				return r.Body, r.Value, nil
			}))
	return group
}

// version returns the precondition that a post has not changed since it was read.
func version(p *spec.Post) *string { return set(`"` + strconv.FormatInt(p.Version, 10) + `"`) }

func (o Options) listPosts() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "list posts, by default drafts and upcoming posts", Args: cobra.NoArgs}
	f := c.Flags()
	f.StringSlice("status", []string{"draft", "scheduled", "publishing"},
		"only posts with this `status`; repeat for more, or all")
	f.StringSlice("account", nil, "only posts to this `account`")
	f.Int("limit", 50, "maximum `number` of posts, at most 200")
	_ = c.RegisterFlagCompletionFunc("status",
		cobra.FixedCompletions(append(statuses(), "all"), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("account", o.completeAccounts)
	return o.connected(c, func(ctx context.Context, s *session, _ []string) error {
		zone, err := s.zone(ctx)
		if err != nil {
			return err
		}
		limit, _ := f.GetInt("limit")
		params := spec.ListPostsParams{Limit: &limit, Order: set(spec.Asc)}
		if all, _ := f.GetStringSlice("status"); len(all) > 0 && all[0] != "all" {
			var wanted []spec.PostStatus
			for _, one := range all {
				wanted = append(wanted, spec.PostStatus(one))
			}
			params.Status = &wanted
		} else {
			params.Order = set(spec.Desc)
		}
		accounts, err := s.accountIDs(ctx)
		if err != nil {
			return err
		}
		if accounts != nil {
			id, err := uuid.Parse((*accounts)[0])
			if err != nil || len(*accounts) > 1 {
				return UsageError("--account can be given once")
			}
			params.Account = &id
		}
		r, err := s.ListPosts(ctx, &params)
		if err != nil {
			return err
		}
		if s.asJSON {
			return s.printJSON(r.Body)
		}
		rows := make([][]string, len(r.Value.Posts))
		for i, p := range r.Value.Posts {
			rows[i] = []string{
				p.Id.String(), string(p.Status), at(p.ScheduledTime, zone), handles(p),
				shorten(p.Content, 50),
			}
		}
		empty := "No posts."
		if !f.Changed("status") {
			empty = "No drafts or upcoming posts. `--status all` also lists published ones."
		}
		return s.printList([]string{"id", "status", "time", "accounts", "text"}, rows, empty)
	})
}

func statuses() []string {
	return []string{"draft", "scheduled", "publishing", "posted", "partly_posted", "failed", "canceled"}
}

func handles(p spec.Post) string {
	all := make([]string, len(p.Targets))
	for i, t := range p.Targets {
		all[i] = t.Network + ":" + t.Handle
	}
	return shorten(strings.Join(all, ", "), 60)
}

func (o Options) showPosts() *cobra.Command {
	c := &cobra.Command{
		Use: "show ID", Short: "show a post and what happened to it", Args: cobra.ExactArgs(1),
		ValidArgsFunction: o.completePosts(statuses()...),
	}
	return o.connected(c, func(ctx context.Context, s *session, args []string) error {
		body, p, err := s.readPost(ctx, args[0])
		if err != nil || s.asJSON {
			if err == nil {
				err = s.printJSON(body)
			}
			return err
		}
		zone, err := s.zone(ctx)
		if err != nil {
			return err
		}
		if err := s.showPost(body, p, zone); err != nil {
			return err
		}
		r, err := s.PostTimeline(ctx, p.Id, &spec.PostTimelineParams{})
		if err != nil {
			return err
		}
		_ = s.say("")
		for _, e := range r.Value.Entries {
			_ = s.say("%s  %s", plain(e.At), plain(e.Text))
		}
		return nil
	})
}

func (s *session) readPost(ctx context.Context, id string) ([]byte, *spec.Post, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return nil, nil, UsageError(fmt.Sprintf("%q: id must be a UUID; `dateline posts list` shows them", id))
	}
	r, err := s.GetPost(ctx, parsed)
	if err != nil {
		return nil, nil, err
	}
	return r.Body, r.Value, nil
}

// showPost prints a post.
func (s *session) showPost(body []byte, p *spec.Post, zone *time.Location) error {
	if s.asJSON {
		return s.printJSON(body)
	}
	_ = s.say("Post    %s\nStatus  %s\nTime    %s (%s)\nText    %s", p.Id, p.Status, at(p.ScheduledTime, zone), zone,
		shorten(p.Content, 200))
	if p.Approval != nil {
		_ = s.say("Approval %s", p.Approval.State)
	}
	var rows [][]string
	for _, t := range p.Targets {
		result := text(t.Url)
		if t.Error != nil {
			result = t.Error.Message
		}
		rows = append(rows, []string{t.Network, t.Handle, string(t.Status), result})
	}
	if p.Warnings != nil {
		for _, w := range *p.Warnings {
			_ = s.say("Warning %s", plain(w.Message))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	_ = s.say("")
	return table(s.out, []string{"network", "account", "status", "result"}, rows)
}

func (o Options) editPost() *cobra.Command {
	c := &cobra.Command{
		Use: "edit ID", Short: "change a post that is not published yet", Args: cobra.ExactArgs(1),
		ValidArgsFunction: o.completePosts("draft", "scheduled"),
		Long: "Changes a post that is not published yet. If somebody else changed it in the meantime,\n" +
			"the command fails and changes nothing.",
	}
	f := c.Flags()
	f.String("text", "", "new `text`; - reads it from standard input")
	f.String("at", "", whenHelp)
	f.StringSlice("account", nil, "`accounts` to publish to; replaces all")
	f.StringArray("media", nil, "`file`, URL or ID of an attachment; replaces all")
	f.StringArray("alt", nil, "`description` of the attachment at the same position")
	_ = c.RegisterFlagCompletionFunc("account", o.completeAccounts)
	_ = c.RegisterFlagCompletionFunc("at", cobra.NoFileCompletions)
	return o.connected(c, func(ctx context.Context, s *session, args []string) error {
		if count(f.Changed("text"), f.Changed("at"), f.Changed("account"), f.Changed("media")) == 0 {
			return UsageError("give what to change: --text, --at, --account or --media")
		}
		_, p, err := s.readPost(ctx, args[0])
		if err != nil {
			return err
		}
		zone, err := s.zone(ctx)
		if err != nil {
			return err
		}
		var edit spec.PostEdit
		if f.Changed("text") {
			given, _ := f.GetString("text")
			if given, err = s.readContent(given); err != nil {
				return err
			}
			edit.Content = &given
		}
		if given, _ := f.GetString("at"); given != "" {
			if edit.ScheduledTime, err = s.parseWhen(ctx, given); err != nil {
				return err
			}
		}
		if edit.Accounts, err = s.accountIDs(ctx); err != nil {
			return err
		}
		if edit.Attachments, err = s.attachments(ctx, false); err != nil {
			return err
		}
		r, err := s.EditPost(ctx, p.Id, &spec.EditPostParams{IfMatch: version(p)}, edit)
		if err != nil {
			return err
		}
		return s.showPost(r.Body, r.Value, zone)
	})
}

// onPost returns a command that changes one post.
func (o Options) onPost(
	use, short string, do func(context.Context, *session, *spec.Post) ([]byte, *spec.Post, error),
) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}
	of := []string{"draft", "scheduled"}
	if c.Name() == "retry" {
		of = []string{"failed", "partly_posted"}
	}
	c.ValidArgsFunction = o.completePosts(of...)
	return o.connected(c, func(ctx context.Context, s *session, args []string) error {
		_, p, err := s.readPost(ctx, args[0])
		if err != nil {
			return err
		}
		body, after, err := do(ctx, s, p)
		if err != nil {
			return err
		}
		zone, err := s.zone(ctx)
		if err != nil {
			return err
		}
		return s.showPost(body, after, zone)
	})
}

func (o Options) watchPost() *cobra.Command {
	c := &cobra.Command{
		Use: "watch ID", Short: "follow a post until it is published, failed or canceled",
		Args: cobra.ExactArgs(1), ValidArgsFunction: o.completePosts("scheduled", "publishing"),
		Long: fmt.Sprintf("Prints the events of a post until it is final. The exit status is 0 if it was published\n"+
			"everywhere, and %d if not.", ExitNotPosted),
	}
	return o.connected(c, func(ctx context.Context, s *session, args []string) error {
		_, p, err := s.readPost(ctx, args[0])
		if err != nil {
			return err
		}
		zone, err := s.zone(ctx)
		if err != nil {
			return err
		}
		if err := s.FollowPost(ctx, p.Id,
			func(e client.StreamedEvent) error { return s.printEvent(e, zone) }); err != nil {
			if ctx.Err() != nil {
				return errors.New("interrupted before the post was final; this does not stop the post")
			}
			return err
		}
		if _, p, err = s.readPost(ctx, args[0]); err != nil {
			return err
		}
		if !s.asJSON {
			for _, t := range p.Targets {
				_ = s.say("%s %s: %s %s", t.Network, plain(t.Handle), t.Status, text(t.Url))
			}
		}
		if p.Status != spec.PostStatusPosted {
			return fmt.Errorf("status %s: %w", p.Status, errNotPosted)
		}
		return nil
	})
}
