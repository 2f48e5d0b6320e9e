package discord

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
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
)

// message contains the fields of
// https://docs.discord.com/developers/resources/message that are used.
type message struct {
	ID          string    `json:"id"`
	ChannelID   string    `json:"channel_id"`
	Content     string    `json:"content"`
	Timestamp   time.Time `json:"timestamp"`
	Attachments []struct {
		ID string `json:"id"`
	} `json:"attachments"`
	Author struct {
		ID string `json:"id"`
	} `json:"author"`
	Reference *struct {
		MessageID string `json:"message_id"`
	} `json:"message_reference"`
}

// messageRequest is a message to create. Mentions do not notify anyone, so that a
// post cannot ping a whole server by mistake.
type messageRequest struct {
	Content         string              `json:"content,omitempty"`
	AllowedMentions map[string][]string `json:"allowed_mentions"`
	Attachments     []attachment        `json:"attachments,omitempty"`
	Nonce           string              `json:"nonce,omitempty"`
	EnforceNonce    bool                `json:"enforce_nonce,omitempty"`
	Reference       *reference          `json:"message_reference,omitempty"`
	Embeds          []embedRequest      `json:"embeds,omitempty"`
	Flags           int                 `json:"flags,omitempty"`
	ThreadName      string              `json:"thread_name,omitempty"` // of a webhook in a forum
	AppliedTags     []string            `json:"applied_tags,omitempty"`
}

type attachment struct {
	ID          int    `json:"id"`
	FileName    string `json:"filename"`
	Description string `json:"description,omitempty"`
}

type reference struct {
	MessageID       string `json:"message_id"`
	FailIfNotExists bool   `json:"fail_if_not_exists"`
}

// Stage does nothing: attachments are sent with the message.
func (d *Discord) Stage(context.Context, network.Account, network.Media) (network.Staged, error) {
	return network.Staged{Ready: true}, nil
}

// StageStatus does nothing.
func (d *Discord) StageStatus(_ context.Context, _ network.Account, staged network.Staged) (network.Staged, error) {
	staged.Ready = true
	return staged, nil
}

// Publish creates a message. A bot's message has a nonce that is derived from the
// submission's key: for a few minutes, Discord answers the same nonce with the
// first message. A webhook waits until the message is saved; otherwise a failure
// would not be reported
// (https://docs.discord.com/developers/resources/webhook#execute-webhook).
func (d *Discord) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	out := messageRequest{Content: submission.Text, AllowedMentions: map[string][]string{"parse": {}}}
	options, _ := submission.Options.(PostOptions)
	options.apply(&out)
	path := messagesPath(account)
	_, hook := webhookID(account)
	switch {
	case hook:
		path += "?wait=true"
		if options.Forum != nil {
			out.ThreadName, out.AppliedTags = options.Forum.Title, options.Forum.Tags
		}
	case options.Forum != nil:
		return d.openThread(ctx, account, *options.Forum, out, submission.Media)
	default:
		out.Nonce, out.EnforceNonce = nonce(submission.Key), true
		if submission.ReplyTo != "" {
			out.Reference = &reference{MessageID: submission.ReplyTo, FailIfNotExists: true}
		}
	}
	body, err := encode(ctx, &out, &out.Attachments, submission.Media)
	if err != nil {
		return network.Receipt{}, err
	}
	res, err := d.do(ctx, account, path, call.Request{Method: http.MethodPost, Body: body, Create: true})
	if err != nil {
		return network.Receipt{}, err
	}
	if options.Forum != nil {
		receipt, err := d.createdForumPost(ctx, account, res)
		receipt.SentAt, receipt.Rates = res.Sent, rates(res)
		return receipt, err
	}
	var created message
	if err := res.Decode(&created); err != nil {
		return network.Receipt{}, err
	}
	if created.ID == "" {
		return network.Receipt{}, res.MalformedError("it contains no message id")
	}
	receipt := d.receipt(ctx, account, created)
	receipt.SentAt, receipt.Rates = res.Sent, rates(res)
	receipt.Differences = created.differences(submission)
	return receipt, nil
}

// differences returns what Discord made otherwise than the submission asked. The first
// message of a thread in a forum, cards and flags are not compared.
func (m message) differences(submission network.Submission) infra.Messages {
	var c matching.Comparison
	c.Text(submission.Text, m.Content)
	c.Media(len(submission.Media), len(m.Attachments))
	c.Reply(submission.ReplyTo, m.replyTo())
	return c.Differences()
}

func (m message) replyTo() string {
	if m.Reference == nil {
		return ""
	}
	return m.Reference.MessageID
}

// openThread creates a post in a forum channel. It has no nonce: a lost response is
// searched for in the list of threads.
func (d *Discord) openThread(
	ctx context.Context, account network.Account, forum Forum, first messageRequest, media []network.Media,
) (network.Receipt, error) {
	out := forumRequest{Name: forum.Title, AppliedTags: forum.Tags, Message: first}
	body, err := encode(ctx, &out, &out.Attachments, media)
	if err != nil {
		return network.Receipt{}, err
	}
	res, err := d.do(ctx, account, "/channels/"+account.RemoteID+"/threads", call.Request{
		Method: http.MethodPost, Body: body, Create: true,
	})
	if err != nil {
		return network.Receipt{}, err
	}
	receipt, err := d.createdForumPost(ctx, account, res)
	receipt.SentAt, receipt.Rates = res.Sent, rates(res)
	return receipt, err
}

// A nonce has at most 25 characters.
func nonce(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// encode encodes a request with its files, which attachments describes.
func encode(ctx context.Context, out any, attachments *[]attachment, media []network.Media) (*call.Body, error) {
	if len(media) == 0 {
		body, err := call.JSON(out)
		if err != nil {
			return nil, rejectUnsendable(err)
		}
		return body, nil
	}
	var files []call.File
	discard := func() {
		for _, f := range files {
			_ = f.Data.Close()
		}
	}
	for i, m := range media {
		data, err := m.Open(ctx)
		if err != nil {
			discard()
			return nil, &network.Error{
				Class: network.NotSent, Code: "media_unreadable",
				Message: "The attachment " + m.FileName + " could not be read from storage.", Err: err,
			}
		}
		name := m.FileName
		if name == "" {
			name = "attachment" + strconv.Itoa(i+1)
		}
		*attachments = append(*attachments, attachment{ID: i, FileName: name, Description: m.AltText})
		files = append(files, call.File{
			Field: fmt.Sprintf("files[%d]", i), Name: name, Type: m.MIMEType, Bytes: m.Bytes, Data: data,
		})
	}
	raw, err := json.Marshal(out)
	if err == nil {
		var body *call.Body
		if body, err = call.Multipart(map[string]string{"payload_json": string(raw)}, files...); err == nil {
			return body, nil
		}
	}
	discard()
	return nil, rejectUnsendable(err)
}

func rejectUnsendable(err error) *network.Error {
	return &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
}

// receipt returns the receipt of a message. A permalink without a server id works
// for members of the server.
func (d *Discord) receipt(ctx context.Context, account network.Account, m message) network.Receipt {
	where, err := d.locate(ctx, account)
	if err != nil || where.guild == "" {
		where.guild = "@me"
	}
	channel := m.ChannelID
	if channel == "" {
		channel = where.channel
	}
	return network.Receipt{
		RemoteID: m.ID, CreatedAt: m.Timestamp,
		URL: fmt.Sprintf("%s/channels/%s/%s/%s", d.options.Site, where.guild, channel, m.ID),
	}
}

// Delete removes a message.
func (d *Discord) Delete(ctx context.Context, account network.Account, remoteID string) error {
	path := messagesPath(account)
	_, hook := webhookID(account)
	if hook {
		path += "/messages"
	}
	thread, inForum := strings.CutPrefix(remoteID, forumPrefix)
	switch {
	case inForum && hook:
		path += "/" + thread + "?thread_id=" + thread
	case inForum:
		path = "/channels/" + thread
	default:
		path += "/" + remoteID
	}
	_, err := d.do(ctx, account, path, call.Request{Method: http.MethodDelete})
	if e := network.AsError(err); e != nil &&
		(e.Code == strconv.Itoa(unknownMessage) || inForum && e.Code == strconv.Itoa(unknownChannel)) {
		return nil
	}
	return err
}
