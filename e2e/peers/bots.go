package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"dateline/internal/audience/botfilter"
)

// botsPart compares the bot filter with isbot on lists of user agents of bots and of
// people. Dateline may lose no more people than isbot on any list, and miss no bot that
// isbot finds.
func botsPart() part {
	return part{name: "bots", run: runBots, packages: []string{
		"npm:isbot@5.2.3", "npm:crawler-user-agents@1.60.0", "npm:top-crawler-agents@1.0.35", "npm:user-agents@2.1.198",
		"npm:top-user-agents@2.1.138", "pypi:device_detector==6.5.1", "pypi:fake-useragent==2.2.0",
	}}
}

// agents is a list of user agents.
type agents struct {
	name   string
	isBots bool
	list   []string
}

func runBots(dir string, show func(string, ...any)) ([]result, error) {
	lists, err := agentLists(dir)
	if err != nil {
		return nil, err
	}
	theirs, err := isbot(dir, lists)
	if err != nil {
		return nil, err
	}
	filter, err := botfilter.New()
	if err != nil {
		return nil, err
	}
	var results []result
	for i, l := range lists {
		r, found, foundByPeer := result{list: l.name}, 0, 0
		for j, agent := range l.list {
			reason := filter.MatchAgent(agent)
			if reason != "" {
				found++
			}
			if theirs[i][j] {
				foundByPeer++
			}
			switch why := botDifference(l.isBots, reason, theirs[i][j]); {
			case (reason != "") == l.isBots:
				r.passed++
			case why != "":
				r.different++
				show("%s: different (%s): %q is %q", l.name, why, agent, reason)
			default:
				r.failed++
				show("%s: FAILED: %q is %q", l.name, agent, reason)
			}
		}
		if l.isBots {
			r.note = fmt.Sprintf("bots missed: %d, by isbot %d", len(l.list)-found, len(l.list)-foundByPeer)
		} else {
			r.note = fmt.Sprintf("people lost: %d, by isbot %d", found, foundByPeer)
			if found > foundByPeer {
				r.failed++
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// botDifference returns why an agent is classified differently on purpose; the reasons
// are explained in docs/reference/peers.md.
func botDifference(isBot bool, reason botfilter.Reason, peerFinds bool) string {
	switch {
	case isBot && !peerFinds:
		return "disguised"
	case !isBot && reason == botfilter.NoBrowser:
		return "no system"
	case !isBot:
		return "name of a program"
	default:
		return ""
	}
}

// isbot returns the verdicts of isbot.
func isbot(dir string, lists []agents) ([][]bool, error) {
	all := make([][]string, len(lists))
	for i, l := range lists {
		all[i] = l.list
	}
	in, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", "-e", `const {isbot} = require("./isbot")
const lists = JSON.parse(require("fs").readFileSync(0))
process.stdout.write(JSON.stringify(lists.map(l => l.map(a => isbot(a)))))`)
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var verdicts [][]bool
	return verdicts, json.Unmarshal(out, &verdicts)
}

// agentLists reads the lists of the packages.
func agentLists(dir string) ([]agents, error) {
	var crawlers []struct{ Instances []string }
	var top, common []string
	var visits []struct{ UserAgent string }
	for file, into := range map[string]any{
		"crawler-user-agents/crawler-user-agents.json": &crawlers,
		"top-crawler-agents/index.json":                &top,
		"user-agents/dist/user-agents.json":            &visits, "top-user-agents/src/index.json": &common,
	} {
		raw, err := os.ReadFile(filepath.Join(dir, file)) //nolint:gosec // just fetched
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	known := agents{name: "crawler-user-agents", isBots: true}
	for _, c := range crawlers {
		known.list = append(known.list, c.Instances...)
	}
	seen := agents{name: "user-agents (browsers)"}
	for _, v := range visits {
		seen.list = append(seen.list, v.UserAgent)
	}
	fakes, err := fakeAgents(dir)
	if err != nil {
		return nil, err
	}
	fixtures, err := deviceDetector(dir)
	if err != nil {
		return nil, err
	}
	lists := append([]agents{
		known,
		{name: "top-crawler-agents", isBots: true, list: top},
		seen,
		{name: "top-user-agents", list: common},
		fakes,
	}, fixtures...)
	for i := range lists {
		slices.Sort(lists[i].list)
		lists[i].list = slices.DeleteFunc(slices.Compact(lists[i].list), func(agent string) bool { return agent == "" })
	}
	return lists, nil
}

// fakeAgents reads the browsers of fake-useragent, one JSON object a line.
func fakeAgents(dir string) (agents, error) {
	l := agents{name: "fake-useragent (browsers)"}
	raw, err := os.ReadFile(filepath.Join(dir, "fake-useragent/fake_useragent/data/browsers.jsonl")) //nolint:gosec // just fetched
	if err != nil {
		return l, err
	}
	for line := range strings.Lines(string(raw)) {
		var browser struct{ UserAgent string }
		if err := json.Unmarshal([]byte(line), &browser); err != nil {
			return l, err
		}
		l.list = append(l.list, browser.UserAgent)
	}
	return l, nil
}

// deviceDetector reads the fixtures of Matomo's device-detector: bots, and people by kind of
// device without those whose client is an HTTP library.
func deviceDetector(dir string) ([]agents, error) {
	files, err := filepath.Glob(filepath.Join(dir, "device_detector/device_detector/tests/fixtures/upstream/*.yml"))
	if err != nil {
		return nil, err
	}
	byKind := map[string][]string{}
	for _, file := range files {
		raw, err := os.ReadFile(file) //nolint:gosec // just fetched
		if err != nil {
			return nil, err
		}
		var fixtures []struct {
			UserAgent string    `yaml:"user_agent"`
			Bot       yaml.Node `yaml:"bot"`
			Client    yaml.Node `yaml:"client"`
		}
		if err := yaml.Unmarshal(raw, &fixtures); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		kind := strings.TrimRight(strings.TrimSuffix(filepath.Base(file), ".yml"), "-0123456789")
		for _, f := range fixtures {
			var client struct{ Type string }
			_ = f.Client.Decode(&client) // a list if there is none
			if client.Type != "library" && (kind == "bots" || f.Bot.IsZero()) {
				byKind[kind] = append(byKind[kind], f.UserAgent)
			}
		}
	}
	var lists []agents
	for kind, list := range byKind {
		lists = append(lists, agents{name: "device-detector " + kind, isBots: kind == "bots", list: list})
	}
	slices.SortFunc(lists, func(a, b agents) int { return strings.Compare(a.name, b.name) })
	return lists, nil
}
