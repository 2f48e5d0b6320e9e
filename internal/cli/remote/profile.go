package remote

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// profile contains the address and the token of an instance.
type profile struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// profiles is the content of the file with the saved profiles.
type profiles struct {
	Current  string             `json:"current"`
	Profiles map[string]profile `json:"profiles"`
}

// profilesPath returns the path of the file: DATELINE_PROFILES, else profiles.json in
// the user's configuration folder.
func (o Options) profilesPath() (string, error) {
	if path := o.env("DATELINE_PROFILES"); path != "" {
		return path, nil
	}
	if dir := o.env("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "dateline", "profiles.json"), nil
	}
	home := o.env("HOME")
	if home == "" {
		return "", errors.New("HOME is not set; set DATELINE_PROFILES to the path of the file with the profiles")
	}
	return filepath.Join(home, ".config", "dateline", "profiles.json"), nil
}

func (o Options) loadProfiles() (profiles, error) {
	all := profiles{Profiles: map[string]profile{}}
	path, err := o.profilesPath()
	if err != nil {
		return all, err
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		return all, fmt.Errorf("%s contains tokens and can be read by other users; run: chmod 600 %s", path, path)
	}
	if err := json.Unmarshal(raw, &all); err != nil || all.Profiles == nil {
		return all, fmt.Errorf("%s is not a valid profiles file; delete it and run `dateline login` again", path)
	}
	return all, nil
}

// saveProfiles replaces the file, which only its owner can read.
func (o Options) saveProfiles(all profiles) error {
	path, err := o.profilesPath()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".profiles-*") // 0600, see os.CreateTemp
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(append(raw, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// credentials returns the address and token of a command: flags, then the environment,
// then the profile. A token is only used for the address that it was given with.
func (o Options) credentials(c *cobra.Command) (profile, error) {
	name, _ := c.Flags().GetString("profile")
	address, _ := c.Flags().GetString("url")
	named := name != ""
	if name == "" {
		name = o.env("DATELINE_PROFILE")
	}
	if address == "" && !named {
		address = o.env("DATELINE_URL")
	}
	if token := o.env("DATELINE_TOKEN"); token != "" && address != "" {
		return profile{URL: address, Token: token}, nil
	}
	all, err := o.loadProfiles()
	if err != nil {
		return profile{}, err
	}
	if name == "" && address == "" {
		name = all.Current
	}
	if name == "" && address != "" {
		for _, p := range all.Profiles {
			if p.URL == strings.TrimSuffix(address, "/") {
				return p, nil
			}
		}
		return profile{}, fmt.Errorf("no token for %s: run `dateline login %s`, or set DATELINE_TOKEN: %w", address,
			address, errNoCredentials)
	}
	p, found := all.Profiles[name]
	switch {
	case name == "":
		return p, errNoCredentials
	case !found:
		return p, fmt.Errorf("there is no profile %q; `dateline profiles` lists them: %w", name, errNoCredentials)
	case address != "" && p.URL != strings.TrimSuffix(address, "/"):
		return p, fmt.Errorf("profile %q is for %s, not for %s: %w", name, p.URL, address, errNoCredentials)
	}
	return p, nil
}

func (o Options) login() *cobra.Command {
	c := &cobra.Command{
		Use: "login URL", Short: "save the address and token of an instance as a profile",
		Long: "Saves the address and an API token of an instance in a file that only you can read\n" +
			"(~/.config/dateline/profiles.json, or DATELINE_PROFILES). The token is read from the\nterminal or from " +
			"standard input; create one in the dashboard under Settings, Tokens.",
		Example: "  dateline login https://dateline.example.com\n  dateline login http://127.0.0.1:8080 --profile " +
			"local < token.txt",
		Args: Arguments(cobra.ExactArgs(1)),
	}
	name := c.Flags().String("profile", "", "name of the `profile` (default: the host)")
	c.RunE = func(c *cobra.Command, args []string) error {
		address := strings.TrimSuffix(args[0], "/")
		token, err := readToken(c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		s, err := o.open(c, profile{URL: address, Token: token})
		if err != nil {
			return err
		}
		me, err := s.GetMe(c.Context())
		if err != nil {
			return err
		}
		all, err := o.loadProfiles()
		if err != nil {
			return err
		}
		key := *name
		if key == "" {
			if u, err := url.Parse(address); err == nil {
				key = u.Host
			}
		}
		all.Current, all.Profiles[key] = key, s.profile
		if err := o.saveProfiles(all); err != nil {
			return err
		}
		return s.say("Logged in to %s as %s (%s of %s). Profile: %s", address, me.Value.User.Name, me.Value.Role,
			me.Value.Workspace.Name, key)
	}
	return c
}

// readToken reads a token from a terminal without showing it, or from a pipe.
func readToken(in io.Reader, prompt io.Writer) (string, error) {
	var raw []byte
	var err error
	if f, ok := in.(*os.File); ok && isTerminal(f) {
		_, _ = fmt.Fprint(prompt, "API token: ")
		raw, err = term.ReadPassword(int(f.Fd()))
		_, _ = fmt.Fprintln(prompt)
	} else {
		var line string
		if line, err = bufio.NewReader(in).ReadString('\n'); errors.Is(err, io.EOF) {
			err = nil
		}
		raw = []byte(line)
	}
	token := strings.TrimSpace(string(raw))
	if err == nil && token == "" {
		err = UsageError("the token is empty: pipe it to standard input, or enter it in a terminal")
	}
	return token, err
}

func (o Options) logout() *cobra.Command {
	c := &cobra.Command{
		Use: "logout [PROFILE]", Short: "delete a profile; its token stays valid until it is revoked",
		Args: Arguments(cobra.MaximumNArgs(1)), ValidArgsFunction: o.completeProfiles,
	}
	c.RunE = func(_ *cobra.Command, args []string) error {
		all, err := o.loadProfiles()
		if err != nil {
			return err
		}
		name := all.Current
		if len(args) > 0 {
			name = args[0]
		}
		if _, found := all.Profiles[name]; !found {
			return fmt.Errorf("profile %q: %w", name, errNotFound)
		}
		delete(all.Profiles, name)
		if all.Current == name {
			all.Current = ""
		}
		return o.saveProfiles(all)
	}
	return c
}

func (o Options) profilesCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "profiles [PROFILE]", Short: "list the saved profiles, or make one the current profile",
		Args: Arguments(cobra.MaximumNArgs(1)), ValidArgsFunction: o.completeProfiles,
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		all, err := o.loadProfiles()
		if err != nil {
			return err
		}
		if len(args) > 0 {
			if _, found := all.Profiles[args[0]]; !found {
				return fmt.Errorf("profile %q: %w", args[0], errNotFound)
			}
			all.Current = args[0]
			return o.saveProfiles(all)
		}
		var rows [][]string
		for _, name := range profileNames(all) {
			current := ""
			if name == all.Current {
				current = "*"
			}
			rows = append(rows, []string{name, all.Profiles[name].URL, current})
		}
		return table(c.OutOrStdout(), []string{"profile", "address", "current"}, rows)
	}
	return c
}

func profileNames(all profiles) []string {
	names := make([]string, 0, len(all.Profiles))
	for name := range all.Profiles {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
