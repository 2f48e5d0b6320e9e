package config

import (
	"errors"
	"net/url"
	"time"
)

func llmSettings() []Setting {
	return []Setting{
		{
			Name:    "DATELINE_LLM_URL",
			Accepts: "the base URL of an OpenAI-compatible API, such as http://127.0.0.1:11434/v1",
			Help:    "Base URL of the LLM API; empty disables the LLM.", set: setLLMURL,
		},
		{
			Name: "DATELINE_LLM_MODEL", DefaultText: "none; required with DATELINE_LLM_URL",
			Accepts: "the name of a model, such as qwen3:8b",
			Help:    "Model name.", set: toString(func(c *Config) *string { return &c.LLMModel }),
		},
		{
			Name: "DATELINE_LLM_KEY", Secret: true, Accepts: "an API key",
			Help: "API key, sent to DATELINE_LLM_URL only.",
			set:  toString(func(c *Config) *string { return &c.LLMKey }),
		},
		{
			Name: "DATELINE_LLM_CONTEXT", Default: "16000", Accepts: "2000 to 1000000",
			Help: "Maximum tokens of a prompt and its completion; pages are truncated to fit.",
			set:  toNumber(func(c *Config) *int { return &c.LLMContextTokens }, 2000, 1_000_000),
		},
		{
			Name: "DATELINE_LLM_TOKENS_PER_DAY", Default: "500000", Accepts: "a number; 0 disables the LLM",
			Help: "Daily token budget of all workers together.",
			set:  toNumber(func(c *Config) *int { return &c.LLMTokensPerDay }, 0, 1<<40),
		},
		{
			Name: "DATELINE_LLM_TIMEOUT", Default: "60s", Accepts: "1s to 10m",
			Help: "Timeout of a completion.", set: toDuration(func(c *Config) *time.Duration { return &c.LLMTimeout },
				time.Second, 10*time.Minute),
		},
	}
}

func setLLMURL(c *Config, v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("is not the URL of an API")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("must not contain a key; set DATELINE_LLM_KEY instead")
	}
	c.LLMURL = v
	return nil
}
