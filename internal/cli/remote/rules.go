package remote

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dateline/api/spec"
)

// rules groups the commands for rules.
func (o Options) rules() *cobra.Command {
	group := Group("rules", "list, preview, pause and resume rules that post articles")
	list := &cobra.Command{Use: "list", Short: "list the rules", Args: cobra.NoArgs}
	group.AddCommand(o.connected(list, func(ctx context.Context, s *session, _ []string) error {
		r, err := s.ListRules(ctx)
		if err != nil {
			return err
		}
		if s.asJSON {
			return s.printJSON(r.Body)
		}
		var rows [][]string
		for _, one := range r.Value.Rules {
			status := string(one.Status)
			if one.PauseReason != nil {
				status += " (" + string(*one.PauseReason) + ")"
			}
			rows = append(rows, []string{
				one.Id.String(), shorten(one.Name, 40), string(one.Definition.Mode), status,
				strconv.Itoa(one.PostsLast24Hours), strconv.Itoa(one.AttentionCount),
			})
		}
		return s.printList([]string{"id", "name", "mode", "status", "posts in 24 h", "need attention"}, rows,
			"No rules. Create one in the dashboard under Rules.")
	}), o.previewRule())
	for _, c := range []struct {
		use, short string
		status     spec.RuleStatus
	}{{"pause", "pause a rule", spec.RuleStatusPaused}, {"resume", "resume a paused rule", spec.RuleStatusActive}} {
		command := &cobra.Command{
			Use: c.use + " RULE", Short: c.short, Args: cobra.ExactArgs(1), ValidArgsFunction: o.completeRules,
		}
		group.AddCommand(o.connected(command, func(ctx context.Context, s *session, args []string) error {
			one, err := s.findRule(ctx, args[0])
			if err != nil {
				return err
			}
			body, name, err := s.setRuleStatus(ctx, one.Id, c.status)
			if err != nil {
				return err
			}
			if s.asJSON {
				return s.printJSON(body)
			}
			return s.say("%s: %s\n", plain(name), c.status)
		}))
	}
	return group
}

func (s *session) setRuleStatus(
	ctx context.Context, id uuid.UUID, status spec.RuleStatus,
) (body []byte, name string, err error) {
	if status == spec.RuleStatusPaused {
		r, err := s.PauseRule(ctx, id)
		if err != nil {
			return nil, "", err
		}
		return r.Body, r.Value.Name, nil
	}
	r, err := s.ResumeRule(ctx, id)
	if err != nil {
		return nil, "", err
	}
	return r.Body, r.Value.Name, nil
}

// previewRule shows what a rule would have decided in the last seven days.
func (o Options) previewRule() *cobra.Command {
	c := &cobra.Command{
		Use: "preview RULE", Short: "show what a rule would have posted in the last seven days",
		Args: cobra.ExactArgs(1), ValidArgsFunction: o.completeRules,
		Long: "Shows what a rule, its name or its ID, would have decided about the articles of the last seven days. " +
			"Nothing is stored.",
	}
	all := c.Flags().Bool("all", false, "list skipped articles too")
	return o.connected(c, func(ctx context.Context, s *session, args []string) error {
		one, err := s.findRule(ctx, args[0])
		if err != nil {
			return err
		}
		r, err := s.PreviewRule(ctx, spec.RuleCreate{Name: one.Name, Definition: one.Definition})
		if err != nil {
			return err
		}
		if s.asJSON {
			return s.printJSON(r.Body)
		}
		zone, err := s.zone(ctx)
		if err != nil {
			return err
		}
		_ = s.say("%s: %d posts of %d articles since %s\n", plain(one.Name), r.Value.Counts["matched"],
			r.Value.Articles, r.Value.From.In(zone).Format(time.DateOnly))
		var rows [][]string
		for _, d := range r.Value.Decisions {
			if *all || d.Outcome == spec.RuleOutcomeReserved {
				rows = append(rows, []string{
					at(&d.DecidedAt, zone), string(d.Outcome), string(d.Reason), shorten(d.Title, 60),
				})
			}
		}
		return table(s.out, []string{"time", "outcome", "reason", "article"}, rows)
	})
}

func (s *session) findRule(ctx context.Context, name string) (spec.Rule, error) {
	r, err := s.ListRules(ctx)
	if err != nil {
		return spec.Rule{}, err
	}
	i := slices.IndexFunc(r.Value.Rules, func(one spec.Rule) bool {
		return one.Id.String() == name || strings.EqualFold(one.Name, name)
	})
	if i < 0 {
		return spec.Rule{}, fmt.Errorf("rule %q: %w; `dateline rules list` lists all", name, errNotFound)
	}
	return r.Value.Rules[i], nil
}

func (o Options) completeRules(
	c *cobra.Command, args []string, typed string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	return o.complete(func(ctx context.Context, s *session) ([]string, error) {
		r, err := s.ListRules(ctx)
		if err != nil {
			return nil, err
		}
		var all []string
		for _, one := range r.Value.Rules {
			all = append(all, cobra.CompletionWithDesc(one.Name, string(one.Status)))
		}
		return all, nil
	})(c, args, typed)
}
