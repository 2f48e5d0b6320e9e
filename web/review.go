package web

import (
	_ "embed"

	"dateline/internal/infra/webpage"
)

var (
	//go:embed review.html
	reviewBody string
	//go:embed review.css
	reviewLook string
)

func reviewStyle() string { return framesStyle() + reviewLook }

// ReviewStyleSource returns the Content-Security-Policy source of the style of review pages.
func ReviewStyleSource() string { return webpage.StyleSource(reviewStyle()) }

// Review is the page of a review link: it shows a post as it will be published, to
// be approved or rejected by somebody without an account.
type Review struct {
	Look     webpage.Preferences
	State    string // of the link
	Reviewer string
	Time     string // of the post
	Problem  string // with the decision that was sent
	Comment  string // that was sent with it
	Secret   string
	Frames   []Frame
}

// HTML writes the page.
func (r Review) HTML() (string, error) {
	states := map[string]webpage.Text{
		"approved": {EN: "You have approved this post. Thank you.", VI: "Bạn đã duyệt bài viết này. Xin cảm ơn."},
		"rejected": {
			EN: "You have asked for changes. The newsroom sees your comment.",
			VI: "Bạn đã yêu cầu chỉnh sửa. Tòa soạn đã nhận được ý kiến của bạn.",
		},
		"revoked": {
			EN: "This link was revoked. Ask the newsroom for a new one.",
			VI: "Liên kết này đã bị thu hồi. Hãy đề nghị tòa soạn gửi liên kết mới.",
		},
		"expired": {
			EN: "This link has expired. Ask the newsroom for a new one.",
			VI: "Liên kết này đã hết hạn. Hãy đề nghị tòa soạn gửi liên kết mới.",
		},
		"outdated": {
			EN: "The post has changed since this link was made. Ask the newsroom for a new one.",
			VI: "Bài viết đã thay đổi từ khi tạo liên kết này. Hãy đề nghị tòa soạn gửi liên kết mới.",
		},
	}
	page := webpage.Page{
		Style: reviewStyle(),
		Title: r.Look.Translate(webpage.Text{EN: "Review a post", VI: "Duyệt bài viết"}),
		Error: r.Problem,
	}
	if text, closed := states[r.State]; closed {
		page.Texts = []string{r.Look.Translate(text)}
		return r.Look.HTML(page)
	}
	page.Texts = []string{r.Look.Translate(
		webpage.Text{
			EN: "%s, please approve this post or say what should be changed. It is published as " +
				"shown here: %s.",
			VI: "%s, vui lòng duyệt bài viết này hoặc cho biết cần sửa gì. Bài sẽ được đăng đúng như dưới đây: %s.",
		},
		r.Reviewer, r.Time)}
	body, err := r.Look.Body(reviewBody, struct {
		Review
		CommentLabel, Approve, Reject string
	}{
		r, r.Look.Translate(webpage.Text{
			EN: "Comment (needed to request changes)", VI: "Ý kiến (bắt buộc khi yêu cầu sửa)",
		}),
		r.Look.Translate(webpage.Text{EN: "Approve", VI: "Duyệt"}),
		r.Look.Translate(webpage.Text{EN: "Request changes", VI: "Yêu cầu sửa"}),
	})
	if err != nil {
		return "", err
	}
	page.Body = body
	return r.Look.HTML(page)
}
