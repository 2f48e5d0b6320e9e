package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/platforms/bluesky"
	"dateline/platforms/discord"
	"dateline/platforms/fake"
	"dateline/platforms/mastodon"
	"dateline/platforms/telegram"
	"dateline/platforms/threads"
)

// filler fills a workspace.
type filler struct {
	*client
	*Demo

	accounts map[string]uuid.UUID // by network, and bulletin for the second account
	media    uuid.UUID
	label    uuid.UUID
	campaign uuid.UUID
	site     item
}

// step creates what a list shows, unless it has something already.
type step struct {
	list, field string
	create      func(ctx context.Context) error
}

// fill creates everything that is missing. News come first, because crawling them takes longest.
func (f *filler) fill(ctx context.Context) error {
	for _, prepare := range []func(context.Context) error{f.seeds, f.connect} {
		if err := prepare(ctx); err != nil {
			return err
		}
	}
	var failures []error
	for _, s := range []step{
		{"/account-groups", "groups", f.groups},
		{"/labels", "labels", f.labels},
		{"/snippets", "snippets", f.snippets},
		{"/media", "media", f.upload},
		{"/sites", "sites", f.addSite},
		{"/webhooks", "webhooks", f.addWebhook},
		{"/notification-channels", "channels", f.addChannel},
		{"/saved-searches", "saved_searches", f.search},
		{"/rules", "rules", f.addRules},
		{"/series", "series", f.addSeries},
		{"/posts?status=canceled", "posts", f.plan},
		{"/posts?status=posted,partly_posted", "posts", f.publish},
		{"/dead-letters", "dead_letters", f.fail},
		{"/watches", "watches", f.watch},
	} {
		missing, err := f.isEmpty(ctx, s.list, s.field)
		if err == nil && missing {
			err = s.create(ctx)
		}
		failures = append(failures, err) // one without the crawler must not prevent the others
	}
	sites, err := f.list(ctx, "/sites", "sites")
	if err == nil && len(sites) > 0 {
		f.site = sites[0]
	}
	return errors.Join(append(failures, err)...)
}

// connect connects accounts of the sandbox. They are not those of other workspaces.
func (f *filler) connect(ctx context.Context) error {
	connected, err := f.list(ctx, "/accounts", "accounts")
	if err != nil {
		return err
	}
	f.accounts = map[string]uuid.UUID{}
	for _, a := range connected {
		if strings.Contains(a.Handle, bulletin) {
			a.Network += bulletin
		}
		f.accounts[a.Network] = a.ID
	}
	for _, there := range []fake.Account{
		{Network: mastodon.Name, Name: "demo"},
		{Network: bluesky.Name, Name: "demo"},
		{Network: telegram.Name, Name: "demo", ID: "-1002000000777"},
		{Network: discord.Name, Name: "demo"},
		{Network: mastodon.Name, Name: bulletin},
		{Network: telegram.Name, Name: bulletin, ID: "-1002000000778"},
	} {
		network, key := there.Network, there.Network
		if there.Name == bulletin {
			key += bulletin
		}
		if _, found := f.accounts[key]; found {
			continue
		}
		if network == mastodon.Name {
			there.Network = "" // the fake's default
		}
		if _, err := f.Sandbox.Add(there); err != nil {
			return err
		}
		if f.accounts[key], err = f.create(ctx, "/accounts/form", object{
			"network": network, "sandbox": true, "values": f.Sandbox.FormValues(network, there.Name),
		}); err != nil {
			return err
		}
	}
	if _, found := f.accounts[threads.Name]; found {
		return nil
	}
	return f.authorize(ctx, fake.Account{Network: threads.Name, Name: "demo"})
}

// authorize connects an account as a browser does: it allows access on the consent page of the fake
// network, which leads back to the API. Threads reports how often a post was shown.
func (f *filler) authorize(ctx context.Context, there fake.Account) error {
	owner, err := f.Sandbox.Add(there)
	if err != nil {
		return err
	}
	var started struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	if err := f.send(ctx, http.MethodPost, "/accounts/connect", object{
		"network": there.Network, "sandbox": true,
	}, &started); err != nil {
		return err
	}
	page, err := url.Parse(started.AuthorizeURL)
	if err != nil {
		return err
	}
	form := page.Query()
	form.Set("account", owner.ID)
	form.Set("decision", "allow")
	sandbox := &client{api: f.Sandbox}
	allowed, err := sandbox.serve(ctx, http.MethodPost, page.Path, strings.NewReader(form.Encode()), loopback(),
		http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	if err != nil {
		return err
	}
	back, err := url.Parse(allowed.header.Get("Location"))
	if err != nil {
		return err
	}
	if _, err := f.serve(ctx, http.MethodGet, back.RequestURI(), nil, loopback(), http.Header{}); err != nil {
		return err
	}
	connected, err := f.list(ctx, "/accounts", "accounts")
	for _, a := range connected {
		if a.Network == there.Network {
			f.accounts[there.Network] = a.ID
		}
	}
	return err
}

// bulletin is the name of the accounts whose posts fail.
const bulletin = "bulletin"

// to returns the accounts at networks.
func (f *filler) to(networks ...string) (ids []uuid.UUID) {
	for _, network := range networks {
		ids = append(ids, f.accounts[network])
	}
	return ids
}

func (f *filler) groups(ctx context.Context) error {
	for _, g := range []struct {
		name, color string
		networks    []string
		times       []string
	}{
		{"Ban Thời sự", "blue", []string{mastodon.Name, telegram.Name}, []string{"06:30", "11:45", "18:30", "21:00"}},
		{"English desk", "teal", []string{bluesky.Name, discord.Name}, []string{"08:00", "17:00"}},
	} {
		var slots []object
		for weekday := 1; weekday <= 7; weekday++ {
			for _, at := range g.times {
				slots = append(slots, object{"weekday": weekday, "time": at})
			}
		}
		if _, err := f.create(ctx, "/account-groups", object{
			"name": g.name, "color": g.color, "accounts": f.to(g.networks...), "slots": slots,
		}); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) labels(ctx context.Context) error {
	for _, l := range []object{
		{"name": "Thời sự", "color": "blue"},
		{"name": "Kinh tế", "color": "teal"},
		{"name": "Sports", "color": "orange"},
		{"name": "Mùa mưa bão", "color": "red", "kind": "campaign", "utm": object{"campaign": "mua-mua-bao"}},
	} {
		if _, err := f.create(ctx, "/labels", l); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) snippets(ctx context.Context) error {
	for _, s := range []object{
		{"name": "Đọc thêm", "text": "Đọc thêm trên Báo Mai:"},
		{"name": "Bão lũ", "kind": "hashtags", "text": "#muabao #thoitiet"},
		{"name": "Breaking news", "kind": "template", "text": "BREAKING: …", "template": object{
			"accounts": f.to(bluesky.Name, discord.Name), "track_links": true,
		}},
	} {
		if _, err := f.create(ctx, "/snippets", s); err != nil {
			return err
		}
	}
	return nil
}

// upload adds pictures to the library.
func (f *filler) upload(ctx context.Context) error {
	for _, p := range []struct {
		name, alt string
		from, to  color.RGBA
	}{
		{
			"binh-minh.png", "Bình minh trên đồi chè",
			color.RGBA{0xf6, 0xb7, 0x5c, 0xff},
			color.RGBA{0x3f, 0x7d, 0x4e, 0xff},
		},
		{"river.png", "The river at dusk", color.RGBA{0x8b, 0x6f, 0xb5, 0xff}, color.RGBA{0x1e, 0x3a, 0x5f, 0xff}},
	} {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		if err := form.WriteField("alt_text", p.alt); err != nil {
			return err
		}
		part, err := form.CreateFormFile("file", p.name)
		if err != nil {
			return err
		}
		if err := png.Encode(part, landscape(p.from, p.to)); err != nil {
			return err
		}
		if err := form.Close(); err != nil {
			return err
		}
		if err := f.sendAs(ctx, http.MethodPost, "/media", &body, http.Header{
			"Authorization": {"Bearer " + f.token}, "Content-Type": {form.FormDataContentType()},
		}, nil); err != nil {
			return err
		}
	}
	return nil
}

// landscape draws a sky over hills.
func landscape(sky, hills color.RGBA) image.Image {
	const width, height = 1200, 675
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	mix := func(a, b uint8, y int) uint8 {
		return uint8((int(a)*(height-y) + int(b)*y) / height) //nolint:gosec // a mean of bytes
	}
	for x := range width {
		// Two parabolas, repeated, are hills.
		ridge := 380 + (x%600-300)*(x%600-300)/700 - (x%260-130)*(x%260-130)/400
		for y := range height {
			c := color.RGBA{mix(sky.R, 0xff, y), mix(sky.G, 0xf0, y), mix(sky.B, 0xe0, y), 0xff}
			if y > ridge {
				c = color.RGBA{mix(hills.R, 0x10, y), mix(hills.G, 0x20, y), mix(hills.B, 0x18, y), 0xff}
			}
			out.SetRGBA(x, y, c)
		}
	}
	return out
}

// hooks is where the sandbox accepts webhooks.
func (f *filler) hooks() string { return f.Sandbox.URL() + fake.HooksPath }

func (f *filler) addWebhook(ctx context.Context) error {
	_, err := f.create(ctx, "/webhooks", object{
		"url": f.hooks(), "description": "Newsroom bot",
		"types": []string{"post.posted", "post.failed", "post.uncertain"},
	})
	return err
}

func (f *filler) addChannel(ctx context.Context) error {
	_, err := f.create(ctx, "/notification-channels", object{
		"kind": "webhook", "name": "Duty editor", "url": f.hooks(), "time_zone": "Asia/Ho_Chi_Minh",
		"types": []string{"post.failed", "post.uncertain"},
	})
	return err
}

func (f *filler) search(ctx context.Context) error {
	for _, s := range []object{
		{"name": "Lũ trên sông Thu", "query": "lũ sông Thu", "alert": true},
		{"name": "River flood", "query": "flood river", "alert": true},
	} {
		id, err := f.create(ctx, "/saved-searches", s)
		if err != nil {
			return err
		}
		if _, err := f.create(ctx, "/saved-searches/"+id.String()+"/feed", nil); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) addRules(ctx context.Context) error {
	for _, r := range []struct {
		name string
		def  object
	}{
		{"Tin nóng thành bản nháp", object{
			"trigger":    object{},
			"conditions": object{"max_age_hours": 24, "once_per_story": true, "languages": []string{"vi"}},
			"templates":  object{"default": "{title}\n\n{lead}\n\n{url}"}, "mode": "draft",
			"account_ids": f.to(mastodon.Name, telegram.Name),
		}},
		{"English stories for approval", object{
			"trigger": object{}, "conditions": object{"max_age_hours": 24, "languages": []string{"en"}},
			"templates": object{"default": "{title}\n\n{url}"}, "mode": "approval", "account_ids": f.to(bluesky.Name),
		}},
	} {
		maps.Copy(r.def, object{
			"image": "none", "track_links": true, "timing": object{"when": "delay", "delay_minutes": 45},
			"max_per_hour": 3, "max_per_day": 12,
		})
		if _, err := f.create(ctx, "/rules", object{"name": r.name, "definition": r.def}); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) addSeries(ctx context.Context) error {
	for _, s := range []struct {
		rule, clock, text string
		networks          []string
	}{
		{
			"FREQ=DAILY", "06:15", "Bản tin sáng: thời tiết, giao thông và ba câu chuyện đáng chú ý hôm nay.",
			[]string{mastodon.Name, telegram.Name},
		},
		{
			"FREQ=WEEKLY;BYDAY=FR", "16:00", "The week in five stories: what our readers read to the end.",
			[]string{bluesky.Name},
		},
	} {
		if _, err := f.create(ctx, "/series", object{
			"rule": s.rule, "starts": f.today(1).Format("2006-01-02") + "T" + s.clock,
			"template": object{"content": s.text, "accounts": f.to(s.networks...)},
		}); err != nil {
			return err
		}
	}
	return nil
}

// today returns the current time in the workspace's time zone, some days later.
func (f *filler) today(days int) time.Time {
	return time.Now().In(time.FixedZone("", 7*60*60)).AddDate(0, 0, days)
}

// known fills in the labels and files of the workspace, by which posts name them.
func (f *filler) known(ctx context.Context) error {
	labels, err := f.list(ctx, "/labels", "labels")
	if err != nil {
		return err
	}
	for _, l := range labels {
		switch l.Name {
		case "Thời sự":
			f.label = l.ID
		case "Mùa mưa bão":
			f.campaign = l.ID
		}
	}
	files, err := f.list(ctx, "/media", "media")
	if err == nil && len(files) > 0 {
		f.media = files[0].ID
	}
	return err
}

// plan creates posts that are not published yet: scheduled ones, drafts, those that are pending
// approval, and a canceled one.
func (f *filler) plan(ctx context.Context) error {
	if err := f.known(ctx); err != nil {
		return err
	}
	for i, p := range planned() {
		post := object{
			"content": p.text, "accounts": f.to(p.networks...), "track_links": strings.Contains(p.text, "://"),
			"labels": []uuid.UUID{f.label}, "language": p.language,
			"scheduled_time": f.today(p.days).Format("2006-01-02") + "T" + p.clock + ":00+07:00",
		}
		if p.inCampaign {
			post["labels"] = []uuid.UUID{f.label, f.campaign}
		}
		if i == 0 {
			post["attachments"] = []uuid.UUID{f.media}
		}
		if _, err := f.create(ctx, "/posts", post); err != nil {
			return err
		}
	}
	for _, text := range pending() {
		id, err := f.create(ctx, "/posts", object{
			"content": text, "accounts": f.to(mastodon.Name, bluesky.Name), "draft": true,
			"scheduled_time": f.today(1).Format("2006-01-02") + "T19:30:00+07:00",
		})
		if err != nil {
			return err
		}
		if err := f.send(ctx, http.MethodPost, "/posts/"+id.String()+"/submit", nil, nil); err != nil {
			return err
		}
		if _, err := f.create(ctx, "/posts/"+id.String()+"/comments", object{
			"text": "Xin kiểm tra lại con số trong câu đầu. / Please check the figure in the first sentence.",
		}); err != nil {
			return err
		}
	}
	for _, text := range drafts() {
		if _, err := f.create(ctx, "/posts", object{
			"content": text, "accounts": f.to(bluesky.Name, discord.Name), "draft": true,
		}); err != nil {
			return err
		}
	}
	// Last, because a workspace with a canceled post has all of these. Rules create drafts, too.
	id, err := f.create(ctx, "/posts", object{
		"content": "Trực tiếp: họp báo lúc 14:00 (đã hoãn)", "accounts": f.to(mastodon.Name),
		"scheduled_time": f.today(1).Format("2006-01-02") + "T14:00:00+07:00",
	})
	if err != nil {
		return err
	}
	return f.send(ctx, http.MethodDelete, "/posts/"+id.String(), nil, nil)
}

// publish publishes posts within seconds, with links that readers follow.
func (f *filler) publish(ctx context.Context) error {
	if err := f.known(ctx); err != nil {
		return err
	}
	links := f.articleLinks()
	for i, p := range published() {
		text, link := p.text, ""
		if len(links) > 0 {
			link = links[i%len(links)]
			text += "\n\n" + link
		}
		if _, err := f.create(ctx, "/posts", object{
			"content": text, "accounts": f.to(p.networks...), "track_links": link != "", "language": p.language,
			"labels":         []uuid.UUID{f.label},
			"scheduled_time": time.Now().Add(time.Duration(3+3*i) * time.Second).Format(time.RFC3339),
		}); err != nil {
			return err
		}
	}
	return nil
}

// fail publishes a post that Mastodon refuses, and one of which the response of Telegram is lost,
// whose Bot API cannot be asked whether it was published.
func (f *filler) fail(ctx context.Context) error {
	for _, c := range []struct {
		fault fake.Fault
		text  string
	}{
		{fake.Fault{
			Kind: fake.Status, Status: http.StatusUnprocessableEntity, Network: mastodon.Name, Path: "/api/v1/statuses",
			Body: `{"error":"Validation failed: Text contains a blocked link"}`,
		}, "Bảng giá nông sản tuần này: cà phê, hồ tiêu và sầu riêng"},
		{
			fake.Fault{Kind: fake.ActThenReset, Network: telegram.Name, Path: "/telegram/"},
			"Live: evacuation of the lower town has begun, follow our channel for updates",
		},
	} {
		id, err := f.create(ctx, "/posts", object{
			"content": c.text, "accounts": f.to(c.fault.Network + bulletin), "draft": true,
		})
		if err != nil {
			return err
		}
		c.fault.Method, c.fault.Account, c.fault.Count = http.MethodPost, bulletin, 1
		if err := f.Sandbox.Inject(c.fault); err != nil {
			return err
		}
		if err := f.send(ctx, http.MethodPost, "/posts/"+id.String()+"/publish-now", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// watch watches a page, which changes after the first check.
func (f *filler) watch(ctx context.Context) error {
	if f.Sites == nil {
		return nil
	}
	article := f.Sites.Site(ownSite).Articles()[0]
	id, err := f.create(ctx, "/watches", object{
		"name": "Giá cà phê – trang đối chiếu", "url": article.URL, "selector": "article", "interval_minutes": 5,
	})
	if err != nil {
		return err
	}
	check := func() error { return f.send(ctx, http.MethodPost, "/watches/"+id.String()+"/check", nil, nil) }
	if err := check(); err != nil {
		return err
	}
	if err := f.await(ctx, func() (bool, error) {
		watches, err := f.list(ctx, "/watches", "watches")
		return len(watches) > 0 && watches[0].CheckedAt != nil, err
	}); err != nil {
		return err
	}
	f.Sites.Site(ownSite).Edit(article.Number)
	return check()
}

// await waits until a condition holds, at most a minute.
func (f *filler) await(ctx context.Context, condition func() (bool, error)) error {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	for {
		if done, err := condition(); err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting: %w", ctx.Err())
		case <-time.After(time.Second):
		}
	}
}
