package nostr

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/article"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// validFor is how long after its time a signed event is used. Readers sort posts by the time
// in the event, so that one that is published much later is signed again.
const validFor = 10 * time.Minute

// Prepare signs the event of a post, dated at the post's time.
func (n *Nostr) Prepare(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Prepared, error) {
	h, ok := parseHandle(submission.Handle)
	if !ok {
		relays, err := n.relaysOf(account)
		if err != nil {
			return network.Prepared{}, err
		}
		s, err := n.signerOf(account)
		if err != nil {
			return network.Prepared{}, err
		}
		if h.event, err = n.build(ctx, account, submission); err != nil {
			return network.Prepared{}, err
		}
		if err := s.sign(ctx, &h.event); err != nil {
			return network.Prepared{}, err
		}
		h.Relays = relays
	}
	return network.Prepared{
		Handle: string(rawJSON(h)), Ready: true, ExpiresAt: time.Unix(h.CreatedAt, 0).Add(validFor),
	}, nil
}

// build returns the event of a post without its signature.
func (n *Nostr) build(ctx context.Context, account network.Account, submission network.Submission) (event, error) {
	options, _ := submission.Options.(PostOptions)
	at := time.Now()
	if submission.Due.After(at) {
		at = submission.Due
	}
	e := event{
		Kind: kindNote, PubKey: account.RemoteID, CreatedAt: at.Unix(), Content: clean(submission.Text),
		Tags: [][]string{},
	}
	files, err := filesOf(submission)
	if err != nil {
		return e, err
	}
	if options.Kind == kindArticle {
		e.asArticle(options, submission, files)
	} else {
		for _, f := range files {
			e.Content = strings.TrimLeft(e.Content+"\n\n"+f.URL, "\n")
		}
	}
	if submission.ReplyTo != "" {
		tags, err := n.replyTags(ctx, account, submission)
		if err != nil {
			return e, err
		}
		e.Tags = append(e.Tags, tags...)
	}
	e.addMentions()
	e.addHashtags()
	for i, f := range files {
		e.Tags = append(e.Tags, f.tag(submission.Media[i]))
	}
	if options.ContentWarning != "" {
		e.Tags = append(e.Tags, []string{"content-warning", clean(options.ContentWarning)})
	}
	if options.ExpiresAfterHours > 0 {
		end := at.Add(time.Duration(options.ExpiresAfterHours) * time.Hour)
		e.Tags = append(e.Tags, []string{tagExpiration, strconv.FormatInt(end.Unix(), 10)})
	}
	if submission.Language != "" {
		e.Tags = append(e.Tags, []string{"L", isoLanguages}, []string{"l", submission.Language, isoLanguages})
	}
	// Two posts with one text at one second would otherwise be one event.
	e.Tags = append(e.Tags, []string{tagOperation, article.Slug("", 40, submission.Key)})
	return e, nil
}

const (
	tagExpiration = "expiration"
	tagOperation  = "operation" // Dateline's own: which post it is
)

// hasExpired reports whether relays no longer show an event.
// https://github.com/nostr-protocol/nips/blob/master/40.md
func (e event) hasExpired() bool {
	end, err := strconv.ParseInt(e.tag(tagExpiration), 10, 64)
	return err == nil && end <= time.Now().Unix()
}

// isoLanguages is the namespace of labels with a language.
// https://github.com/nostr-protocol/nips/blob/master/32.md
const isoLanguages = "ISO-639-1"

// asArticle makes it an article, whose text is Markdown.
// https://github.com/nostr-protocol/nips/blob/master/23.md
func (e *event) asArticle(options PostOptions, submission network.Submission, files []file) {
	e.Kind = kindLongForm
	name := options.Slug
	if name == "" {
		name = article.SlugOf(options.Title, 100, submission)
	}
	written := article.Of(options.Title, submission)
	first, rest, _ := strings.Cut(strings.TrimSpace(e.Content), "\n")
	if options.Title == "" && written.Title != "" && !strings.HasSuffix(written.Title, "…") && first != "" {
		e.Content = strings.TrimSpace(rest)
	}
	e.Tags = append(e.Tags, []string{"d", name}, []string{"title", clean(written.Title)},
		[]string{"published_at", strconv.FormatInt(e.CreatedAt, 10)})
	if options.Summary != "" {
		e.Tags = append(e.Tags, []string{"summary", clean(options.Summary)})
	}
	cover := article.FirstImage(submission)
	for i, f := range files {
		if i == cover {
			e.Tags = append(e.Tags, []string{"image", f.URL})
			continue
		}
		alt := strings.NewReplacer("[", "", "]", "", "\n", " ").Replace(clean(submission.Media[i].AltText))
		e.Content = strings.TrimLeft(e.Content+"\n\n!["+alt+"]("+f.URL+")", "\n")
	}
}

// replyTags name the first post of a thread, and the one that is replied to.
// https://github.com/nostr-protocol/nips/blob/master/10.md
func (n *Nostr) replyTags(
	ctx context.Context, account network.Account, submission network.Submission,
) ([][]string, error) {
	root, author := submission.RootID, account.RemoteID
	if root == "" {
		parent, err := n.read(ctx, account, submission.ReplyTo)
		if err != nil {
			return nil, err
		}
		root, author = parent.ID, parent.PubKey
		for _, tag := range parent.Tags {
			if len(tag) > 3 && tag[0] == "e" && tag[3] == "root" && len(tag[1]) == len(parent.ID) {
				root = tag[1]
			}
		}
	}
	tags := [][]string{{"e", root, "", "root"}}
	if root != submission.ReplyTo {
		tags = append(tags, []string{"e", submission.ReplyTo, "", "reply"})
	}
	return append(tags, []string{"p", author}), nil
}

// read returns an event that a relay of the account has.
func (n *Nostr) read(ctx context.Context, account network.Account, id string) (event, error) {
	at, err := n.deliveriesOf(account)
	if err != nil {
		return event{}, err
	}
	defer at.close()
	s, err := n.signerOf(account)
	if err != nil {
		return event{}, err
	}
	results := make(chan event, len(at))
	at.each(ctx, n.options.AnswerTimeout, func(ctx context.Context, d *delivery) (err error) {
		if d.conn, err = n.dial(ctx, d.relay, s, account.Token); err != nil {
			return err
		}
		found, err := d.conn.query(ctx, filter{IDs: []string{id}})
		if i := slices.IndexFunc(found, func(e event) bool { return e.ID == id }); i >= 0 {
			results <- found[i]
		}
		return err
	})
	select {
	case e := <-results:
		return e, nil
	default:
	}
	if e := at.failure(); e != nil {
		return event{}, e
	}
	return event{}, rejected("", "reply_target_deleted", "The post that this post replies to does not exist.")
}

// addMentions makes the public names in a text links, and names their owners.
// https://github.com/nostr-protocol/nips/blob/master/27.md
func (e *event) addMentions() {
	names := regexp.MustCompile(`(^|[\s(])(?:nostr:|@)(npub1[02-9ac-hj-np-z]{58})\b`)
	for _, found := range names.FindAllStringSubmatch(e.Content, -1) {
		if key, ok := parsePublicName(found[2]); ok {
			e.addTag("p", key)
		}
	}
	e.Content = names.ReplaceAllString(e.Content, "${1}nostr:${2}")
}

// addHashtags adds the hashtags of a text, which relays compare by bytes.
// https://github.com/nostr-protocol/nips/blob/master/24.md#tags
func (e *event) addHashtags() {
	for _, span := range rules.Spans(e.Content) {
		if span.Kind == network.SpanTag {
			e.addTag("t", strings.ToLower(strings.TrimPrefix(span.Target, "#")))
		}
	}
}

func (e *event) addTag(name, value string) {
	tag := []string{name, value}
	if !slices.ContainsFunc(e.Tags, func(t []string) bool { return slices.Equal(t, tag) }) {
		e.Tags = append(e.Tags, tag)
	}
}

// coordinate names all versions of an article.
func (e event) coordinate() string { return fmt.Sprintf("%d:%s:%s", e.Kind, e.PubKey, e.tag("d")) }

func notSigned(err error) *network.Error {
	return &network.Error{
		Class: network.NotSent, Code: "not_signed", Message: "The post could not be signed.", Err: err,
	}
}
