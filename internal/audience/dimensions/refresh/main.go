// Command refresh writes known.txt: the search engines, social networks and AI assistants of
// Matomo's list (https://github.com/matomo-org/searchengine-and-social-list, CC0-1.0), one
// site a line: channel, name, hosts.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/publicsuffix"
)

func main() {
	from := flag.String("from", "", "`folder` with a copy of the list")
	to := flag.String("to", "internal/audience/dimensions/known.txt", "`file` to write")
	flag.Parse()
	if err := run(*from, *to); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "refresh:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	lines := []string{}
	for _, list := range []struct{ channel, file string }{
		{"ai", "AIAssistants.yml"},
		{"search", "SearchEngines.yml"},
		{"social", "Socials.yml"},
	} {
		raw, err := os.ReadFile(filepath.Join(from, list.file))
		if err != nil {
			return err
		}
		var sites map[string]yaml.Node
		if err := yaml.Unmarshal(raw, &sites); err != nil {
			return fmt.Errorf("%s: %w", list.file, err)
		}
		byName := map[string][]string{}
		for _, node := range sites {
			if hosts := hostsOf(&node); len(hosts) > 0 {
				name := nameOf(list.channel, hosts)
				byName[name] = append(byName[name], hosts...)
			}
		}
		for name, hosts := range byName {
			slices.Sort(hosts)
			lines = append(lines, strings.Join(append([]string{list.channel, name}, slices.Compact(hosts)...), " "))
		}
	}
	slices.Sort(lines)
	header := "# Written by make sources from https://github.com/matomo-org/searchengine-and-social-list (CC0-1.0).\n" +
		"# Channel, name, hosts; {} is a country's domain.\n"
	return os.WriteFile(to, []byte(header+strings.Join(lines, "\n")+"\n"), 0o644) //nolint:gosec // a source file
}

// hostsOf returns the hosts of a site: social networks and assistants have a list,
// search engines a list of configurations with one each. Addresses with a path are left
// out, because browsers send the host only, and so are sites of others that show an
// engine's results, such as cnn.com for Google: the list means their page of results only.
func hostsOf(node *yaml.Node) []string {
	var hosts []string
	if node.Decode(&hosts) != nil {
		var configurations []struct{ URLs []string }
		_ = node.Decode(&configurations)
		for _, c := range configurations {
			hosts = append(hosts, c.URLs...)
		}
		others := func(host string) bool { return owner(host) != owner(hosts[0]) }
		hosts = slices.DeleteFunc(slices.Clone(hosts), others)
	}
	var usable []string
	for _, host := range hosts {
		host = strings.TrimPrefix(strings.ToLower(host), "www.")
		if strings.Contains(host, ".") && !strings.Contains(host, "/") && !strings.HasPrefix(host, "com.") {
			usable = append(usable, host)
		}
	}
	return usable
}

// nameOf returns the name of a site: the registered domain of its first host. Assistants
// share domains with other services.
func nameOf(channel string, hosts []string) string {
	if channel == "ai" {
		return hosts[0]
	}
	return domainOf(hosts[0])
}

// owner returns the part of a registered domain before the suffix: google of
// images.google.com.vn.
func owner(host string) string {
	name, _, _ := strings.Cut(domainOf(host), ".")
	return name
}

func domainOf(host string) string {
	host = strings.ReplaceAll(host, "{}", "com")
	if name, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return name
	}
	return host
}
