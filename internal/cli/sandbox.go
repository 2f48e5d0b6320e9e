package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/config"
	"dateline/platforms"
	"dateline/platforms/bluesky"
	"dateline/platforms/discord"
	"dateline/platforms/facebook"
	"dateline/platforms/fake"
	"dateline/platforms/ghost"
	"dateline/platforms/instagram"
	"dateline/platforms/linkedin"
	"dateline/platforms/mastodon"
	"dateline/platforms/nostr"
	"dateline/platforms/slack"
	"dateline/platforms/telegram"
	"dateline/platforms/threads"
	"dateline/platforms/wordpress"
	"dateline/platforms/x"
	"dateline/platforms/zalo"
)

// sandboxAccount is the account that is connected in the sandbox by default.
const sandboxAccount = "desk"

// metricTime is how fast the numbers of posts in the sandbox grow, so that people see it.
const metricTime = 20 * time.Minute

// sandbox runs the fake networks of `dateline up`. It is nil if it is off.
type sandbox struct{ server *fake.Server }

func startSandbox(cfg *config.Config) (*sandbox, error) {
	if !cfg.Sandbox {
		return nil, nil
	}
	dir := filepath.Join(cfg.DataDir, "sandbox")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	server, err := fake.New(fake.Options{Journal: filepath.Join(dir, "mastodon.jsonl"), MetricTime: metricTime})
	if err != nil {
		return nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	err = server.Start(cfg.SandboxAddr)
	if err != nil {
		// The configured port is not available; use a free one.
		host, _, _ := net.SplitHostPort(cfg.SandboxAddr)
		err = server.Start(net.JoinHostPort(host, "0"))
	}
	if err != nil {
		_ = server.Close()
		return nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	return &sandbox{server}, nil
}

// openSandbox starts the sandbox. A failure is logged and does not prevent the start of
// the program.
func openSandbox(cfg *config.Config, log *slog.Logger) *sandbox {
	box, err := startSandbox(cfg)
	if err != nil {
		log.Warn("the sandbox could not be started; everything else works", "error", err)
		return nil
	}
	return box
}

// connectAccount is like connect, but logs a failure.
func (b *sandbox) connectAccount(ctx context.Context, p *parts, owner workspace.Principal, log *slog.Logger) {
	if err := b.connect(ctx, p, owner); err != nil {
		log.Warn("the sandbox account could not be connected; connect it under Accounts, or restart", "error", err)
	}
}

func (b *sandbox) close() {
	if b != nil {
		_ = b.server.Close()
	}
}

func (b *sandbox) url() string {
	if b == nil {
		return ""
	}
	return b.server.URL()
}

// network returns the URL of a fake network, or an empty string if the sandbox does not
// have it.
func (b *sandbox) network(name string) string {
	if b == nil {
		return ""
	}
	return b.server.NetworkURL(name)
}

// formValues returns what the form of a fake network accepts.
func (b *sandbox) formValues(name string) map[string]string {
	if b == nil {
		return nil
	}
	return b.server.FormValues(name, sandboxAccount)
}

// allowed returns the private address of the sandbox, which must be reachable.
func (b *sandbox) allowed() []string {
	if b == nil {
		return nil
	}
	return []string{b.server.URL()[len("http://"):]}
}

// populate creates an account at every fake network: a user, with a page or an
// organization if the network has these, or a channel with its bot.
func (b *sandbox) populate() error {
	for _, a := range []fake.Account{
		{Network: bluesky.Name},
		{Network: discord.Name},
		{Network: ghost.Name},
		{Network: instagram.Name},
		{Network: nostr.Name},
		{Network: slack.Name},
		{Network: threads.Name},
		{Network: wordpress.Name},
		{Network: x.Name},
		{Network: zalo.Name},
		{Network: telegram.Name, ID: "-1002000000001"},
	} {
		a.Name = sandboxAccount
		if _, err := b.server.Add(a); err != nil {
			return err
		}
	}
	for network, kind := range map[string]string{facebook.Name: "page", linkedin.Name: "organization"} {
		person, err := b.server.Add(fake.Account{Network: network, Name: sandboxAccount})
		if err != nil {
			return err
		}
		if _, err := b.server.Add(fake.Account{
			Network: network, Kind: kind, OwnerID: person.ID,
			Name: "newsroom",
		}); err != nil {
			return err
		}
	}
	return nil
}

// networkOptions returns the options of the networks from the settings, and the URLs of
// the fake networks.
func networkOptions(cfg *config.Config, box *sandbox) (o platforms.Options, err error) {
	if cfg.NetworksFile != "" {
		file, err := os.Open(cfg.NetworksFile)
		if err != nil {
			return o, fmt.Errorf("DATELINE_NETWORKS_FILE: %w", err)
		}
		defer func() { _ = file.Close() }()
		if err := o.Decode(file); err != nil {
			return o, fmt.Errorf("DATELINE_NETWORKS_FILE: %w", err)
		}
	}
	for name, app := range cfg.NetworkApps {
		o.SetApp(name, app.ClientID, secret.NewText(app.ClientSecret))
	}
	o.SetSandbox(box.network)
	return o, nil
}

// connect ensures that the sandbox account is connected at the current address of the
// sandbox.
func (b *sandbox) connect(ctx context.Context, p *parts, owner workspace.Principal) error {
	if b == nil {
		return nil
	}
	if err := p.store.Publishing.Accounts.MoveSandbox(ctx, b.url()); err != nil {
		return err
	}
	if err := b.populate(); err != nil {
		return err
	}
	account, err := b.server.AddAccount(sandboxAccount)
	if err != nil {
		return err
	}
	_, err = p.accounts.ConnectWithToken(ctx, owner, mastodon.Name, b.url(), secret.NewText(account.Token))
	return err
}
