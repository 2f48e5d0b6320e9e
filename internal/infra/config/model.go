package config

import (
	"errors"
	"net/url"
	"time"
)

func modelSettings() []Setting {
	return []Setting{
		{Name: "DATELINE_MODEL_URL", Accepts: "http://127.0.0.1:11434/v1 or another base of an OpenAI-compatible API",
			Help: "Where the language model answers; empty: pages are read by rules alone.", set: setModelURL},
		{Name: "DATELINE_MODEL", DefaultText: "none; it must be set with DATELINE_MODEL_URL", Accepts: "the name of a model, such as qwen3:8b",
			Help: "Which model is asked.", set: toString(func(c *Config) *string { return &c.ModelName })},
		{Name: "DATELINE_MODEL_KEY", Secret: true, Accepts: "an API key",
			Help: "Sent to DATELINE_MODEL_URL and to nobody else.", set: toString(func(c *Config) *string { return &c.ModelKey })},
		{Name: "DATELINE_MODEL_CONTEXT", Default: "16000", Accepts: "2000 to 1000000",
			Help: "Tokens that a question and its answer may have; pages are cut to fit.", set: toNumber(func(c *Config) *int { return &c.ModelContext }, 2000, 1_000_000)},
		{Name: "DATELINE_MODEL_TOKENS_PER_DAY", Default: "500000", Accepts: "a number; 0 asks nothing",
			Help: "Tokens that all workers together may use in a day.", set: toNumber(func(c *Config) *int { return &c.ModelTokens }, 0, 1<<40)},
		{Name: "DATELINE_MODEL_TIMEOUT", Default: "60s", Accepts: "1s to 10m",
			Help: "How long an answer may take.", set: toDuration(func(c *Config) *time.Duration { return &c.ModelTimeout }, time.Second, 10*time.Minute)},
	}
}

func setModelURL(c *Config, v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("is not the address of an API")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("may hold no key; that belongs into DATELINE_MODEL_KEY")
	}
	c.ModelURL = v
	return nil
}
