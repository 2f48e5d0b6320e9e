package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dateline/api/spec"
	"dateline/client"
	"dateline/internal/infra/timezone"
)

// post schedules a post.
func (o Options) post() *cobra.Command {
	c := &cobra.Command{
		Use: "post TEXT", Short: "schedule a post", Args: cobra.ExactArgs(1),
		Long: "Schedules a post, or keeps it as a draft. TEXT - reads the text from standard input.\nA request that " +
			"is interrupted is repeated; the post is created once.",
		Example: "  dateline post \"Good morning\" --at \"tomorrow 9:00\" --account mastodon:@news@example.social\n" +
			"  dateline post \"Breaking news\" --now\n" +
			"  dateline post \"Our new studio\" --next-free --media studio.jpg --alt \"A room with two cameras\"\n" +
			"  dateline post - --draft < announcement.txt",
	}
	f := c.Flags()
	f.String("at", "", whenHelp)
	f.Bool("now", false, "publish at once")
	f.Bool("next-free", false, "publish in the next free slot of the accounts' queue")
	f.Bool("draft", false, "keep the post as a draft")
	f.StringSlice("account", nil, "`account` to publish to: its handle, network:handle, name or ID; repeat for more "+
		"(default: the workspace's default accounts)")
	f.StringArray("media", nil, "`file`, URL or ID of an attachment; repeat for more")
	f.StringArray("alt", nil, "`description` of the attachment at the same position, for people who cannot see it")
	f.String("language", "", "ISO 639 `code` of the text")
	f.Bool("track-links", false, "replace links in the text with short links that count clicks")
	f.Int("drop-if-late", 0, "discard the post if it is this many `minutes` late; 0: never")
	f.Bool("dry-run", false, "check the post and show what each network gets, without scheduling it")
	_ = c.RegisterFlagCompletionFunc("account", o.completeAccounts)
	_ = c.RegisterFlagCompletionFunc("at", cobra.NoFileCompletions)
	_ = c.MarkFlagFilename("media")
	return o.connected(c, func(ctx context.Context, s *session, args []string) error {
		return s.createPost(ctx, args[0])
	})
}

func (s *session) createPost(ctx context.Context, content string) error {
	f := s.command.Flags()
	at, _ := f.GetString("at")
	now, _ := f.GetBool("now")
	if strings.EqualFold(strings.TrimSpace(at), "now") {
		now, at = true, ""
	}
	nextFree, _ := f.GetBool("next-free")
	draft, _ := f.GetBool("draft")
	dry, _ := f.GetBool("dry-run")
	if n := count(at != "", now, nextFree); n > 1 || n == 0 && !draft || now && draft {
		return UsageError("give one of --at, --now and --next-free, or --draft")
	}
	content, err := s.readContent(content)
	if err != nil {
		return err
	}
	zone, err := s.zone(ctx)
	if err != nil {
		return err
	}
	body := spec.PostCreate{Content: content, Draft: set(draft)}
	if at != "" {
		if body.ScheduledTime, err = s.parseWhen(ctx, at); err != nil {
			return err
		}
	}
	if nextFree {
		body.When = set(spec.NextFree)
	}
	if body.Accounts, err = s.accountIDs(ctx); err != nil {
		return err
	}
	if body.Attachments, err = s.attachments(ctx, dry); err != nil {
		return err
	}
	if language, _ := f.GetString("language"); language != "" {
		body.Language = &language
	}
	if track, _ := f.GetBool("track-links"); track {
		body.TrackLinks = &track
	}
	if late, _ := f.GetInt("drop-if-late"); late > 0 {
		body.DropIfLateMinutes = &late
	}
	if dry {
		if now {
			body.ScheduledTime = set(time.Now().In(zone).Add(time.Minute).Format(time.RFC3339))
		}
		return s.preview(ctx, body)
	}
	if now {
		body.Draft = set(true) // published below
	}
	r, err := s.CreatePost(ctx, &spec.CreatePostParams{IdempotencyKey: idempotencyKey()}, body)
	if err != nil {
		return err
	}
	if !now {
		return s.showPost(r.Body, r.Value, zone)
	}
	published, err := s.PublishNow(ctx, r.Value.Id, &spec.PublishNowParams{IfMatch: version(r.Value)})
	if err != nil {
		return fmt.Errorf("the post is a draft with the ID %s: %w", r.Value.Id, err)
	}
	return s.showPost(published.Body, published.Value, zone)
}

// preview shows what networks would get.
func (s *session) preview(ctx context.Context, p spec.PostCreate) error {
	r, err := s.PreviewPost(ctx, spec.PreviewedPost{
		Content: &p.Content, ScheduledTime: p.ScheduledTime, When: p.When,
		Draft: p.Draft, Accounts: p.Accounts, Attachments: p.Attachments, Language: p.Language,
		TrackLinks: p.TrackLinks, DropIfLateMinutes: p.DropIfLateMinutes,
	})
	if err != nil {
		return err
	}
	if s.asJSON {
		err = s.printJSON(r.Body)
	} else {
		for _, t := range r.Value.Targets {
			err = errors.Join(err, s.say("%s %s", t.Network, plain(t.Handle)))
			for i, one := range t.Segments {
				err = errors.Join(err, s.say("  %d/%d  %s", i+1, len(t.Segments), plain(one.Text)))
			}
		}
		for _, w := range r.Value.Warnings {
			err = errors.Join(err, s.say("warning: %s", plain(w.Message)))
		}
		for _, p := range r.Value.Problems {
			err = errors.Join(err, s.say("problem: %s: %s", p.Field, plain(p.Message)))
		}
	}
	if err == nil && len(r.Value.Problems) > 0 {
		return &client.Error{Status: 422, Code: "validation_failed", Title: "the post cannot be scheduled as it is"}
	}
	return err
}

func (s *session) readContent(text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	raw, err := io.ReadAll(s.command.InOrStdin())
	return strings.TrimRight(string(raw), "\n"), err
}

// zone returns the time zone of the workspace.
func (s *session) zone(ctx context.Context) (*time.Location, error) {
	me, err := s.GetMe(ctx)
	if err != nil {
		return nil, err
	}
	return timezone.Load(me.Value.Workspace.TimeZone)
}

// accountIDs returns the accounts of --account, or nil without the flag.
func (s *session) accountIDs(ctx context.Context) (*[]string, error) {
	names, _ := s.command.Flags().GetStringSlice("account")
	if len(names) == 0 {
		return nil, nil //nolint:nilnil // the default accounts
	}
	r, err := s.ListAccounts(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(names))
	for i, name := range names {
		a, err := findAccount(r.Value.Accounts, name)
		if err != nil {
			return nil, err
		}
		ids[i] = a.Id.String()
	}
	return &ids, nil
}

// accountName returns the label of an account in the workspace, else its name on the network.
func accountName(a spec.Account) string {
	if label := text(a.Label); label != "" {
		return label
	}
	return a.Name
}

// findAccount returns the account that a name means.
func findAccount(all []spec.Account, name string) (spec.Account, error) {
	var found []spec.Account
	for _, a := range all {
		handle := strings.TrimPrefix(a.Handle, "@")
		network, rest, _ := strings.Cut(name, ":")
		switch {
		case a.Id.String() == name:
			return a, nil
		case a.Status == spec.Disconnected:
		case strings.EqualFold(strings.TrimPrefix(name, "@"), handle), strings.EqualFold(name, accountName(a)),
			strings.EqualFold(network, a.Network) && strings.EqualFold(strings.TrimPrefix(rest, "@"), handle):
			found = append(found, a)
		}
	}
	switch len(found) {
	case 0:
		return spec.Account{}, fmt.Errorf("account %q: %w; `dateline accounts` lists all", name, errNotFound)
	case 1:
		return found[0], nil
	}
	return spec.Account{},
		UsageError(fmt.Sprintf("account %q is ambiguous; use network:handle or the ID: `dateline accounts` lists both",
			name))
}

// attachments returns the IDs of the attachments of --media. In a dry run, nothing is
// uploaded, so only IDs are included.
func (s *session) attachments(ctx context.Context, dry bool) (*[]string, error) {
	media, _ := s.command.Flags().GetStringArray("media")
	alts, _ := s.command.Flags().GetStringArray("alt")
	if len(alts) > len(media) {
		return nil, UsageError("there are more --alt than --media")
	}
	if len(media) == 0 {
		return nil, nil //nolint:nilnil // none
	}
	ids := make([]string, 0, len(media))
	for i, m := range media {
		alt := ""
		if i < len(alts) {
			alt = alts[i]
		}
		if _, err := uuid.Parse(m); err == nil {
			ids = append(ids, m)
			continue
		}
		if dry {
			continue
		}
		id, err := s.upload(ctx, m, alt)
		if err != nil {
			return nil, fmt.Errorf("--media %s: %w", m, err)
		}
		ids = append(ids, id)
	}
	return &ids, nil
}

func (s *session) upload(ctx context.Context, source, alt string) (string, error) {
	if strings.HasPrefix(source, "https://") || strings.HasPrefix(source, "http://") {
		r, err := s.FetchMedia(ctx, &spec.FetchMediaParams{IdempotencyKey: idempotencyKey()}, spec.MediaFetch{
			Url: source, AltText: set(alt),
		})
		if err != nil {
			return "", err
		}
		return r.Value.Id.String(), nil
	}
	raw, err := os.ReadFile(source)
	if err != nil {
		return "", err
	}
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	if alt != "" {
		_ = w.WriteField("alt_text", alt) // to a buffer
	}
	part, err := w.CreateFormFile("file", filepath.Base(source))
	if err != nil {
		return "", err
	}
	_, _ = part.Write(raw)
	_ = w.Close()
	r, err := s.UploadMedia(ctx, &spec.UploadMediaParams{IdempotencyKey: idempotencyKey()},
		client.Form{ContentType: w.FormDataContentType(), Content: body.Bytes()})
	if err != nil {
		return "", err
	}
	return r.Value.Id.String(), nil
}

func idempotencyKey() *string { return set("cli-" + uuid.NewString()) }

// set returns a pointer to a value, or nil for the zero value.
func set[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func count(all ...bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}
