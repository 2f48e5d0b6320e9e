package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	infra "dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// message contains the used fields of https://core.telegram.org/bots/api#message.
type message struct {
	ID      int64  `json:"message_id"`
	Date    int64  `json:"date"` // seconds since 1970
	Chat    chat   `json:"chat"`
	Text    string `json:"text"`
	Caption string `json:"caption"`
	Poll    *struct {
		Question string   `json:"question"`
		Options  []choice `json:"options"`
	} `json:"poll"`
	ReplyTo *struct {
		ID int64 `json:"message_id"`
	} `json:"reply_to_message"`
	Photo        json.RawMessage `json:"photo"`
	Video        json.RawMessage `json:"video"`
	Animation    json.RawMessage `json:"animation"`
	Document     json.RawMessage `json:"document"` // also beside an animation
	Protected    bool            `json:"has_protected_content"`
	Spoiler      bool            `json:"has_media_spoiler"`
	CaptionAbove bool            `json:"show_caption_above_media"`
}

type choice struct {
	Text string `json:"text"`
}

func (m message) hasMedia() bool {
	return len(m.Photo)+len(m.Video)+len(m.Animation)+len(m.Document) > 0
}

// differences returns what Telegram made otherwise than the submission asked. Buttons,
// the link preview and the topic are not compared.
func (m messages) differences(submission network.Submission, options PostOptions) infra.Messages {
	var c matching.Comparison
	first := m[0]
	text := cmp.Or(first.Text, first.Caption)
	var asked, shown []string
	if options.Poll != nil {
		asked = options.Poll.Choices
	}
	if first.Poll != nil {
		text = first.Poll.Question
		for _, one := range first.Poll.Options {
			shown = append(shown, one.Text)
		}
	}
	c.Text(submission.Text, text)
	files, covered := 0, true
	for _, one := range m {
		if one.hasMedia() {
			files++
			covered = covered && one.Spoiler
		}
	}
	c.Media(len(submission.Media), files)
	c.Poll(asked, shown)
	replyTo, _, _ := strings.Cut(submission.ReplyTo, ",")
	repliesTo := ""
	if first.ReplyTo != nil {
		repliesTo = strconv.FormatInt(first.ReplyTo.ID, 10)
	}
	c.Reply(replyTo, repliesTo)
	c.Hidden(options.Spoiler && files > 0, covered)
	c.Option("protected", options.Protected, first.Protected)
	if files > 0 && submission.Text != "" {
		c.Option("caption_above", options.CaptionAbove, first.CaptionAbove)
	}
	return c.Differences()
}

// Stage does nothing: a bot's attachments are sent with the message.
func (t *Telegram) Stage(context.Context, network.Account, network.Media) (network.Staged, error) {
	return network.Staged{Ready: true}, nil
}

// StageStatus does nothing.
func (t *Telegram) StageStatus(_ context.Context, _ network.Account, staged network.Staged) (network.Staged, error) {
	staged.Ready = true
	return staged, nil
}

// Publish sends one message or one album. The remote id of an album contains the
// ids of all of its messages.
func (t *Telegram) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	fields := map[string]string{"chat_id": account.RemoteID}
	if submission.ReplyTo != "" {
		first, _, _ := strings.Cut(submission.ReplyTo, ",")
		if _, err := strconv.ParseInt(first, 10, 64); err != nil {
			return network.Receipt{}, &network.Error{
				Class: network.Rejected, Code: "bad_reply_target",
				Message: "The post that this post replies to is not a Telegram message.",
			}
		}
		fields["reply_parameters"] = `{"message_id":` + first + `}`
	}
	options, _ := submission.Options.(PostOptions)
	method, files, err := shape(ctx, submission, options, fields)
	if err != nil {
		return network.Receipt{}, err
	}
	options.fields(method, fields)
	body, err := encode(fields, files)
	if err != nil {
		return network.Receipt{}, err
	}
	var sent messages
	res, err := t.do(ctx, account, method, body, true, &sent)
	if err != nil {
		return network.Receipt{}, err
	}
	if len(sent) == 0 || sent[0].ID == 0 {
		return network.Receipt{}, res.MalformedError("it contains no message id")
	}
	receipt := network.Receipt{RemoteID: sent.remoteID(), URL: t.permalink(account, sent[0]), SentAt: res.Sent}
	if sent[0].Date > 0 {
		receipt.CreatedAt = time.Unix(sent[0].Date, 0).UTC()
	}
	receipt.Differences = sent.differences(submission, options)
	return receipt, nil
}

// messages is the result of a sending method: one message, or those of an album.
type messages []message

// UnmarshalJSON accepts both forms.
func (m *messages) UnmarshalJSON(data []byte) error {
	if strings.HasPrefix(strings.TrimSpace(string(data)), "[") {
		return json.Unmarshal(data, (*[]message)(m))
	}
	var one message
	err := json.Unmarshal(data, &one)
	*m = messages{one}
	return err
}

func (m messages) remoteID() string {
	ids := make([]string, len(m))
	for i, one := range m {
		ids[i] = strconv.FormatInt(one.ID, 10)
	}
	return strings.Join(ids, ",")
}

// shape returns the method for the attachments, and sets its fields.
func shape(
	ctx context.Context, s network.Submission, options PostOptions, fields map[string]string,
) (method string, files []call.File, err error) {
	if options.Poll != nil {
		options.Poll.fields(s.Text, fields)
		return "sendPoll", nil, nil
	}
	if len(s.Media) == 0 {
		fields["text"] = s.Text
		return "sendMessage", nil, nil
	}
	if len(s.Media) == 1 {
		method, field := single(s.Media[0].MediaInfo)
		if s.Text != "" {
			fields["caption"] = s.Text
		}
		file, err := open(ctx, s.Media[0], field)
		return method, []call.File{file}, err
	}
	album := make([]map[string]any, len(s.Media))
	for i, media := range s.Media {
		name := "file" + strconv.Itoa(i)
		kind := "photo"
		if rules.IsVideoOrAudio(media.MediaInfo) {
			kind = "video"
		}
		album[i] = map[string]any{"type": kind, "media": "attach://" + name}
		for field, chosen := range map[string]bool{
			"has_spoiler":              options.Spoiler,
			"show_caption_above_media": options.CaptionAbove,
		} {
			if chosen {
				album[i][field] = true
			}
		}
		file, err := open(ctx, media, name)
		if err != nil {
			closeAll(files)
			return "", nil, err
		}
		files = append(files, file)
	}
	if s.Text != "" {
		album[0]["caption"] = s.Text // of the album: only the first item has a caption
	}
	raw, _ := json.Marshal(album) // marshaling strings cannot fail
	fields["media"] = string(raw)
	return "sendMediaGroup", files, nil
}

func single(media network.MediaInfo) (method, field string) {
	switch {
	case media.MIMEType == "image/gif":
		return "sendAnimation", "animation"
	case rules.IsVideoOrAudio(media):
		return "sendVideo", "video"
	default:
		return "sendPhoto", "photo"
	}
}

func open(ctx context.Context, media network.Media, field string) (call.File, error) {
	data, err := media.Open(ctx)
	if err != nil {
		return call.File{}, &network.Error{
			Class: network.NotSent, Code: "media_unreadable",
			Message: "The attachment " + media.FileName + " could not be read from storage.", Err: err,
		}
	}
	name := media.FileName
	if name == "" {
		name = field
	}
	return call.File{Field: field, Name: name, Type: media.MIMEType, Bytes: media.Bytes, Data: data}, nil
}

func closeAll(files []call.File) {
	for _, f := range files {
		_ = f.Data.Close()
	}
}

func encode(fields map[string]string, files []call.File) (*call.Body, error) {
	body, err := call.Multipart(fields, files...)
	if err != nil {
		closeAll(files)
		return nil, &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
	}
	return body, nil
}

// permalink returns the address of a message. The messages of private chats open
// for members only.
// https://core.telegram.org/api/links#message-links
func (t *Telegram) permalink(account network.Account, m message) string {
	if m.Chat.Username != "" {
		return fmt.Sprintf("%s/%s/%d", t.options.Site, m.Chat.Username, m.ID)
	}
	return fmt.Sprintf("%s/c/%s/%d", t.options.Site, strings.TrimPrefix(strings.TrimPrefix(account.RemoteID, "-100"),
		"-"), m.ID)
}

// settingUnclear is the account's setting for messages whose response was lost.
const (
	settingUnclear = "unclear"
	resendPolicy   = "send_again"
)

// Reconcile makes no call: bots cannot read a chat. Unless the account's setting
// "unclear" is "send_again", which risks a duplicate, a user has to resolve the
// post.
func (t *Telegram) Reconcile(
	_ context.Context, account network.Account, _ network.Submission, _ network.Window,
) (network.Finding, error) {
	if account.Settings[settingUnclear] == resendPolicy {
		return network.Finding{
				Conclusive: true,
				Evidence: []network.Note{network.NewNote("bot_sends_again",
					"Bots cannot list what they sent. This account is set to send again, at the risk of a "+
						"duplicate.")},
			},
			nil
	}
	return network.Finding{Evidence: []network.Note{network.NewNote("bot_cannot_list",
		"Bots cannot list what they sent. Check the chat and resolve the post.")}}, nil
}

// Delete removes a message, or all of an album.
// https://core.telegram.org/bots/api#deletemessages
func (t *Telegram) Delete(ctx context.Context, account network.Account, remoteID string) error {
	for id := range strings.SplitSeq(remoteID, ",") {
		var done bool
		err := t.query(ctx, account, "deleteMessage", map[string]string{"chat_id": account.RemoteID, "message_id": id},
			&done)
		e := network.AsError(err)
		if e != nil && e.Status == http.StatusBadRequest && strings.Contains(e.Message, "message to delete not found") {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
