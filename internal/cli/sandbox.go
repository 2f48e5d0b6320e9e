package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/config"
	"dateline/platforms"
	"dateline/platforms/bluesky"
	"dateline/platforms/discord"
	"dateline/platforms/facebook"
	"dateline/platforms/fake"
	"dateline/platforms/instagram"
	"dateline/platforms/linkedin"
	"dateline/platforms/mastodon"
	"dateline/platforms/telegram"
	"dateline/platforms/threads"
	"dateline/platforms/x"
)

// sandboxAccount is the account at the pretend network that posts go to until
// real ones are connected.
const sandboxAccount = "desk"

// sandbox is the pretend network of `dateline up`. nil is one that is off.
type sandbox struct{ server *fake.Server }

func startSandbox(cfg *config.Config) (*sandbox, error) {
	if !cfg.Sandbox {
		return nil, nil
	}
	dir := filepath.Join(cfg.DataDir, "sandbox")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	server, err := fake.New(fake.Options{Journal: filepath.Join(dir, "mastodon.jsonl")})
	if err != nil {
		return nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	err = server.Start(cfg.SandboxAddr)
	if err != nil {
		// Whatever stands in the way of the usual port, a free one will do.
		host, _, _ := net.SplitHostPort(cfg.SandboxAddr)
		err = server.Start(net.JoinHostPort(host, "0"))
	}
	if err != nil {
		_ = server.Close()
		return nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	return &sandbox{server}, nil
}

// openSandbox starts the sandbox. A place to try things out must not keep the
// program from starting: a failure is a warning, and gives a sandbox that is
// off.
func openSandbox(cfg *config.Config, log *slog.Logger) *sandbox {
	box, err := startSandbox(cfg)
	if err != nil {
		log.Warn("the sandbox could not be started; everything else works without it", "error", err)
		return nil
	}
	return box
}

// connectAccount is connect whose failure is a warning, too.
func (b *sandbox) connectAccount(ctx context.Context, p *parts, owner workspace.Principal, log *slog.Logger) {
	if err := b.connect(ctx, p, owner); err != nil {
		log.Warn("the sandbox's account could not be connected; connect it under Accounts, or start again", "error", err)
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

// network is the address of a network's copy in the sandbox; empty: it has none.
func (b *sandbox) network(name string) string {
	if b == nil {
		return ""
	}
	return b.server.NetworkURL(name)
}

// allowed is the sandbox's address: it is private, and may be reached.
func (b *sandbox) allowed() []string {
	if b == nil {
		return nil
	}
	return []string{b.server.URL()[len("http://"):]}
}

// populate gives every network somebody to connect: a person, whose page or
// organisation it is where the network has such, or a channel with its bot.
func (b *sandbox) populate() error {
	for _, a := range []fake.Account{
		{Network: bluesky.Name}, {Network: discord.Name}, {Network: instagram.Name}, {Network: threads.Name}, {Network: x.Name},
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
		if _, err := b.server.Add(fake.Account{Network: network, Kind: kind, OwnerID: person.ID, Name: "newsroom"}); err != nil {
			return err
		}
	}
	return nil
}

// networkOptions are the operator's settings of the networks, and where the
// sandbox plays them.
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

// connect makes sure that the sandbox's account is connected, wherever the
// sandbox listens this time.
func (b *sandbox) connect(ctx context.Context, p *parts, owner workspace.Principal) error {
	if b == nil {
		return nil
	}
	if err := p.store.MoveSandbox(ctx, b.url()); err != nil {
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
