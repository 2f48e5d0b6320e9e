package network_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
	"unicode/utf8"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Board is a complete adapter for an invented network, which accepts plain text
// at POST /posts and lists an account's posts at GET /posts.
type Board struct {
	calls *call.Caller
	api   string
}

var _ network.Network = (*Board)(nil)

func (*Board) Name() string { return "board" }

func (*Board) Limits(context.Context, network.Account) (network.Limits, error) {
	return network.Limits{AllowedBy: "Board", MaxCharacters: 280}, nil
}

func (*Board) Count(text string, _ network.Limits) int { return utf8.RuneCountInString(text) }

func (b *Board) Check(content network.Content, limits network.Limits) []network.Violation {
	return rules.Check("Board", content, limits, b.Count(content.Text, limits))
}

func (*Board) Stage(context.Context, network.Account, network.Media) (network.Staged, error) {
	return network.Staged{}, &network.Error{
		Class: network.Rejected, Code: network.CodeUnsupported, Message: "Board accepts no attachments.",
	}
}

func (*Board) StageStatus(_ context.Context, _ network.Account, staged network.Staged) (network.Staged, error) {
	return staged, nil
}

type boardPost struct {
	ID        string    `json:"id"`
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

func (b *Board) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	body, err := call.JSON(map[string]string{"text": submission.Text})
	if err != nil {
		return network.Receipt{}, err
	}
	// Create makes a lost response Ambiguous.
	res, err := b.calls.Do(ctx, call.Request{
		Method: http.MethodPost, URL: b.api + "/posts", Token: account.Token, Body: body, Create: true,
	})
	if err != nil {
		return network.Receipt{}, err
	}
	if !res.OK() {
		return network.Receipt{}, res.StatusError("", "")
	}
	var post boardPost
	if err := res.Decode(&post); err != nil {
		return network.Receipt{}, err
	}
	return network.Receipt{RemoteID: post.ID, CreatedAt: post.CreatedAt, SentAt: res.Sent}, nil
}

func (b *Board) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	res, err := b.calls.Do(ctx, call.Request{Method: http.MethodGet, URL: b.api + "/posts", Token: account.Token})
	if err != nil {
		return network.Finding{}, err
	}
	var posts []boardPost
	if err := res.Decode(&posts); err != nil {
		return network.Finding{}, err
	}
	search, comparer := matching.New(window), matching.NewComparer(submission.Text)
	for _, post := range posts {
		search.Add(matching.Post{
			Receipt: network.Receipt{RemoteID: post.ID, CreatedAt: post.CreatedAt},
			Verdict: comparer.Compare(post.Text), MediaCountEqual: true, ReplyTargetEqual: true,
		})
	}
	return search.Result(window.From, true, network.Note{}), nil
}

func (*Board) Delete(context.Context, network.Account, string) error {
	return &network.Error{
		Class: network.Rejected, Code: network.CodeUnsupported,
		Message: "Board has no call that deletes posts.",
	}
}

// The network publishes the post, but the response is lost. Publish returns
// Ambiguous, and Reconcile finds the post, so it is not sent again.
func Example_lostResponse() {
	var posts []boardPost
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_ = json.NewEncoder(w).Encode(posts)
			return
		}
		var post boardPost
		_ = json.NewDecoder(r.Body).Decode(&post)
		post.ID, post.CreatedAt = "42", time.Now()
		posts = append(posts, post)
		panic(http.ErrAbortHandler) // closes the connection without a response
	}))
	defer server.Close()

	var board network.Network = &Board{calls: call.New(server.Client()), api: server.URL}
	account := network.Account{Token: secret.NewText("token")}
	submission := network.Submission{Key: "operation-1", Text: strings.Repeat("Flood warning lifted. ", 2)}
	start := time.Now()

	_, err := board.Publish(context.Background(), account, submission)
	fmt.Println("Publish:", network.AsError(err).Class)

	finding, _ := board.Reconcile(context.Background(), account, submission, network.Window{From: start})
	fmt.Println("Reconcile: found", finding.Found, "as", finding.Receipt.RemoteID)

	// Output:
	// Publish: ambiguous
	// Reconcile: found true as 42
}
