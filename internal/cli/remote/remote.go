// Package remote implements the commands that talk to a running instance over its REST
// API. They need an address and a token: from the flags, the environment or a profile
// that `dateline login` saved.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"dateline/client"
	"dateline/internal/infra/retry"
)

// Options are the properties of the process.
type Options struct {
	Version string
	Environ []string
}

// env returns an environment variable.
func (o Options) env(name string) string {
	for i := len(o.Environ) - 1; i >= 0; i-- {
		if value, found := strings.CutPrefix(o.Environ[i], name+"="); found {
			return value
		}
	}
	return ""
}

// Exit codes of all commands.
const (
	ExitFailure     = 1
	ExitUsage       = 2 // unknown command, flag or argument
	ExitAccess      = 3 // no credentials, or not allowed
	ExitNotFound    = 4
	ExitRejected    = 5 // the instance rejected the request as invalid or outdated
	ExitUnavailable = 6 // the instance cannot be reached, or asks to retry later
	ExitNotPosted   = 7 // the watched post was not published everywhere
)

// ErrReported wraps errors that a command has already printed.
var ErrReported = errors.New("reported")

var (
	errNoCredentials = errors.New("no instance is configured: run `dateline login https://your-instance`, or set " +
		"DATELINE_URL and DATELINE_TOKEN")
	errNotPosted = errors.New("the post was not published everywhere")
	errNotFound  = errors.New("not found")
)

type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

// UsageError returns an error for invalid arguments.
func UsageError(message string) error { return usageError{message} }

// Arguments turns errors of an argument check into usage errors that name the argument,
// as the usage line of the command does.
func Arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err == nil {
			return nil
		}
		names := strings.Fields(c.Use)[1:]
		switch {
		case c.HasSubCommands():
			return UsageError(err.Error())
		case len(args) < len(names) && !strings.HasPrefix(names[len(args)], "["):
			return UsageError(strings.TrimSuffix(names[len(args)], "…") + " is missing")
		case len(names) == 0:
			return UsageError(fmt.Sprintf("%q is unexpected: the command has no arguments", args[0]))
		case len(args) > len(names):
			return UsageError(fmt.Sprintf("%q is unexpected; put quotes around an argument that contains spaces",
				args[len(names)]))
		}
		return UsageError(err.Error())
	}
}

// Group returns a command that only has subcommands.
func Group(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: Arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
}

// ExitCode returns the exit status for an error.
func ExitCode(err error) int {
	var usage usageError
	var network net
	status := client.StatusOf(err)
	switch {
	case errors.As(err, &usage):
		return ExitUsage
	case errors.Is(err, errNoCredentials) || status == http.StatusUnauthorized || status == http.StatusForbidden:
		return ExitAccess
	case errors.Is(err, errNotFound) || status == http.StatusNotFound:
		return ExitNotFound
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError || errors.As(err, &network):
		return ExitUnavailable
	case status != 0:
		return ExitRejected
	case errors.Is(err, errNotPosted):
		return ExitNotPosted
	}
	return ExitFailure
}

// net is a failed request: the instance was not reached.
type net struct{ error }

func (e net) Unwrap() error { return e.error }

// Commands returns the commands.
func Commands(o Options) []*cobra.Command {
	return []*cobra.Command{
		o.login(), o.logout(), o.profilesCommand(), o.post(), o.posts(), o.accounts(), o.sites(),
		o.articles(), o.rules(), o.sources(), o.watch(), o.mcp(),
	}
}

// session is a command that is connected to an instance.
type session struct {
	*client.Client
	command *cobra.Command
	out     io.Writer
	asJSON  bool
	profile profile
}

// connected sets up a command that calls the API, with the flags of all such commands.
func (o Options) connected(
	c *cobra.Command, run func(ctx context.Context, s *session, args []string) error,
) *cobra.Command {
	addConnectionFlags(c)
	_ = c.RegisterFlagCompletionFunc("profile", o.completeProfiles)
	c.Flags().Bool("json", false, "print the response of the API as JSON")
	if c.Args == nil {
		c.Args = cobra.NoArgs
	}
	c.Args = Arguments(c.Args)
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := o.connect(c)
		if err != nil {
			return err
		}
		return run(c.Context(), s, args)
	}
	return c
}

func addConnectionFlags(c *cobra.Command) {
	c.Flags().String("profile", "", "saved `profile` to use (default: DATELINE_PROFILE, else the current one)")
	c.Flags().String("url", "", "`address` of the instance (default: DATELINE_URL, else that of the profile)")
	_ = c.RegisterFlagCompletionFunc("url", cobra.NoFileCompletions)
}

// withList adds a subcommand "list" to a command that lists.
func withList(c *cobra.Command) *cobra.Command {
	list := &cobra.Command{Use: "list", Short: c.Short, Args: c.Args, RunE: c.RunE}
	list.Flags().AddFlagSet(c.Flags())
	c.AddCommand(list)
	return c
}

func (o Options) connect(c *cobra.Command) (*session, error) {
	p, err := o.credentials(c)
	if err != nil {
		return nil, err
	}
	return o.open(c, p)
}

// open returns a session with known credentials.
func (o Options) open(c *cobra.Command, p profile) (*session, error) {
	api, err := client.New(p.URL, p.Token, client.Options{
		HTTP: &http.Client{Transport: retrying{http.DefaultTransport}}, UserAgent: "dateline/" + o.Version,
	})
	if err != nil {
		return nil, UsageError(err.Error())
	}
	asJSON := false
	if f := c.Flags().Lookup("json"); f != nil {
		asJSON = f.Value.String() == "true"
	}
	return &session{Client: api, command: c, out: c.OutOrStdout(), asJSON: asJSON, profile: p}, nil
}

// retrying repeats requests that are safe to repeat: those without an effect, and those
// with an Idempotency-Key, of which the API executes the first only.
type retrying struct{ next http.RoundTripper }

const (
	maxAttempts = 4
	retryDelay  = 300 * time.Millisecond // doubled each time
)

func (t retrying) RoundTrip(r *http.Request) (*http.Response, error) {
	repeatable := r.Method == http.MethodGet || r.Header.Get("Idempotency-Key") != "" &&
		(r.Body == nil || r.GetBody != nil)
	for attempt := 1; ; attempt++ {
		response, err := t.next.RoundTrip(r)
		if !repeatable || attempt == maxAttempts || err == nil && !temporary(response.StatusCode) {
			if err != nil {
				err = net{err}
			}
			return response, err
		}
		if err == nil {
			_ = response.Body.Close()
		}
		if err := retry.Sleep(r.Context(), retryDelay<<(attempt-1)); err != nil {
			return nil, err
		}
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			r = r.Clone(r.Context())
			r.Body = body
		}
	}
}

func temporary(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable ||
		status == http.StatusGatewayTimeout
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd())) //nolint:gosec // file descriptors are small
}

// printJSON prints a response of the API.
func (s *session) printJSON(body []byte) error {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	e := json.NewEncoder(s.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// say prints a line.
func (s *session) say(format string, args ...any) error {
	_, err := fmt.Fprintf(s.out, format+"\n", args...)
	return err
}
