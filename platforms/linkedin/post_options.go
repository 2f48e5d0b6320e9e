package linkedin

import (
	"encoding/json"
	"slices"
	"strings"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of a post.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/posts-api
type PostOptions struct {
	// Public, connections or logged_in; empty: the account's setting
	Visibility    string                `json:"visibility,omitempty"`
	Poll          *Poll                 `json:"poll,omitempty"`
	DocumentTitle string                `json:"document_title,omitempty"` // empty: the name of the file
	NoReshare     bool                  `json:"no_reshare,omitempty"`
	FirstComment  *network.FirstComment `json:"first_comment,omitempty"`
}

// Poll is a poll in place of attachments.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/poll-post-api
type Poll struct {
	Question     string   `json:"question"`
	Choices      []string `json:"choices"`
	DurationDays int      `json:"duration_days"` // 1, 3, 7 or 14
}

var _ network.OptionParser = (*LinkedIn)(nil)

// Following returns nothing: the next segments are comments.
func (PostOptions) Following() network.PostOptions { return nil }

// ParseOptions reads the options of a post.
func (*LinkedIn) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions]("LinkedIn", raw)
}

func pollLimits() network.PollLimits {
	return network.PollLimits{MinChoices: 2, MaxChoices: 4, MaxChoiceCharacters: 30, MaxQuestion: 140}
}

// maxDocumentTitle is the number of characters of a title. The Documents API names no
// limit.
const maxDocumentTitle = 200

// visibilities are those that an account can choose: an organization's posts are
// public.
func visibilities(account network.Account) []string {
	if isOrganization(account) {
		return []string{"public"}
	}
	return []string{"public", "connections", "logged_in"}
}

// pollDuration is LinkedIn's name of a duration; "" if there is none.
func pollDuration(days int) string {
	return map[int]string{1: "ONE_DAY", 3: "THREE_DAYS", 7: "SEVEN_DAYS", 14: "FOURTEEN_DAYS"}[days]
}

// problems returns what LinkedIn would refuse of the options.
func (o PostOptions) problems(content network.Content, limits network.Limits) []network.Violation {
	c := rules.Options{Name: "LinkedIn"}
	c.OneOf("visibility", o.Visibility, limits.Visibilities...)
	if content.Reply {
		c.Add("visibility", "comment_options", "A reply on {network} is a comment, which has no options. Remove them.",
			c.Name)
	}
	if o.Poll != nil {
		c.Poll(o.Poll.Question, o.Poll.Choices, 0, limits.Poll)
		if pollDuration(o.Poll.DurationDays) == "" {
			c.Add("poll.duration_days", "poll_days",
				"The poll would be open for {used} days; LinkedIn allows 1, 3, 7 or 14.", o.Poll.DurationDays)
		}
		if len(content.Media) > 0 {
			c.Add("poll", "poll_with_attachments",
				"{network} accepts no attachments with a poll. Remove the poll or the attachments.", c.Name)
		}
		if strings.TrimSpace(content.Text) == "" {
			c.Add("poll", "poll_without_text", "{network} needs a text with a poll. Write one.", c.Name)
		}
	}
	if o.DocumentTitle != "" {
		c.MaxRunes("document_title", o.DocumentTitle, maxDocumentTitle)
		if !slices.ContainsFunc(content.Media, rules.IsDocument) {
			c.Add("document_title", "title_without_document",
				"The post has no document for this title. Attach a PDF or remove the title.")
		}
	}
	c.FirstComment(o.FirstComment)
	return c.Problems
}

// poll is the content of a poll.
type poll struct {
	Question string       `json:"question"`
	Options  []pollChoice `json:"options"`
	Settings pollSettings `json:"settings"`
}

type pollChoice struct {
	Text string `json:"text"`
}

type pollSettings struct {
	Duration string `json:"duration"`
}

func (p Poll) content() *content {
	out := poll{Question: p.Question, Settings: pollSettings{pollDuration(p.DurationDays)}}
	for _, choice := range p.Choices {
		out.Options = append(out.Options, pollChoice{choice})
	}
	return &content{Poll: &out}
}
