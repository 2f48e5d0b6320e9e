package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/scheduling"
)

// demoPosts returns the posts of --demo, of which the first is due within seconds.
func demoPosts() []struct {
	in   time.Duration
	text string
} {
	return []struct {
		in   time.Duration
		text string
	}{
		{15 * time.Second, "Bản tin sáng: Hà Nội có mưa rào, nhiệt độ 24–29 °C. #thoitiet"},
		{
			30 * time.Second, "Breaking: this post was scheduled half a minute ago and went out on its second. " +
				"https://example.com/how",
		},
		{40 * time.Second, "Good evening. Three stories you should not miss tonight, and the weather for tomorrow."},
		{45 * time.Second, "Kết quả xổ số, tỷ giá và giá vàng hôm nay được cập nhật lúc 18:00 👇"},
	}
}

// scheduleDemo schedules the posts of --demo, with a reply to the first.
func scheduleDemo(ctx context.Context, p *parts, owner workspace.Principal, out io.Writer) error {
	start := time.Now().Truncate(time.Second)
	parent := ""
	for i, d := range demoPosts() {
		at := start.Add(d.in)
		draft := scheduling.Draft{Content: d.text, ScheduledTime: at.Format(time.RFC3339)}
		if i == len(demoPosts())-1 {
			draft.ThreadParentID = parent
		}
		created, _, err := p.scheduler.Schedule(ctx, owner, draft, idempotency.Key{})
		if err != nil {
			return fmt.Errorf("scheduling the demo posts: %w", err)
		}
		if i == 0 {
			parent = created.ID.String()
		}
		if err := p.workflows.Start(ctx, created); err != nil {
			p.log.Warn("the workflow was not started; the reconciler will start it", "post_id", created.ID, "error",
				err)
		}
		_, _ = fmt.Fprintf(out, "Demo: due at %s: %s\n", at.Format("15:04:05"), d.text)
	}
	return nil
}
