package discord

import (
	"context"
	"regexp"
	"strings"
	"unicode/utf8"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Limits are the same for all channels, except that webhooks cannot reply.
func (d *Discord) Limits(ctx context.Context, account network.Account) (network.Limits, error) {
	if _, err := d.base(account.BaseURL); err != nil {
		return network.Limits{}, err
	}
	_, hook := webhookID(account)
	// Cached ahead of the scheduled time, so that the permalink needs no call
	// then.
	_, _ = d.locate(ctx, account)
	o := d.options
	return network.Limits{
		AllowedBy: "Discord", MaxCharacters: o.MaxCharacters, MaxMedia: o.MaxMedia, MixedMedia: true,
		SupportsReply: !hook,
		MIMETypes: []string{
			"image/jpeg", "image/png", "image/webp", "image/gif", "video/mp4", "video/webm",
			"video/quicktime",
		},
		MaxImageBytes: o.MaxFileBytes, MaxVideoBytes: o.MaxFileBytes, MaxAltText: o.MaxAltText, Quotas: quotas(),
		FinishesWithin: network.UsualFinish,
	}, nil
}

// Count returns the number of code points without leading and trailing
// whitespace.
func (d *Discord) Count(text string, _ network.Limits) int {
	return utf8.RuneCountInString(strings.TrimSpace(text))
}

// Check returns what Discord would refuse.
func (d *Discord) Check(content network.Content, limits network.Limits) []network.Violation {
	problems := rules.Check("Discord", content, limits, d.Count(content.Text, limits))
	all := int64(0)
	for _, m := range content.Media {
		all += m.Bytes
	}
	if limit := d.options.MaxRequestBytes; all > limit {
		problems = append(problems, network.NewViolation("attachments", "too_large_together",
			"The attachments have {used_bytes} in total; Discord allows {limit_bytes} per message.", network.Bytes(all),
			network.Bytes(limit)))
	}
	options, _ := content.Options.(PostOptions)
	return append(problems, options.problems(content)...)
}

// link matches what Discord makes clickable.
var link = regexp.MustCompile(`https?://[^\s<>"]+`) //nolint:gochecknoglobals // compiled once

// Preview shows the text as it is, with the card of the first link. Discord
// renders it as Markdown.
func (d *Discord) Preview(content network.Content, _ network.Limits) network.Preview {
	p := network.Preview{Text: strings.TrimSpace(content.Text)}
	options, _ := content.Options.(PostOptions)
	for _, at := range link.FindAllStringIndex(p.Text, -1) {
		word := strings.TrimRight(p.Text[at[0]:at[1]], ".,;:!?)»”'\"")
		p.Spans = append(p.Spans, network.Span{
			Start: at[0], End: at[0] + len(word), Kind: network.SpanLink, Target: word,
		})
		if p.Card == "" && !options.SuppressEmbeds {
			p.Card = word
		}
	}
	if strings.ContainsAny(p.Text, "*_~`|>#") {
		p.Notes = append(p.Notes,
			network.NewNote("markdown_rendered",
				"Discord renders Markdown: characters such as * and _ may format the text instead of being shown."))
	}
	if strings.Contains(p.Text, "@") {
		p.Notes = append(p.Notes,
			network.NewNote("mentions_not_notified", "Mentions are shown, but do not notify anyone."))
	}
	return p
}
