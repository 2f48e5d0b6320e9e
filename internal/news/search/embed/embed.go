// Package embed computes text embeddings with an OpenAI-compatible endpoint
// (https://platform.openai.com/docs/api-reference/embeddings), such as Ollama, vLLM or
// Mistral.
package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"dateline/internal/identity/secret"
)

// Client uses one embedding model.
type Client struct {
	URL          string // base URL, such as https://api.example/v1
	Key          secret.Text
	Model        string
	VectorLength int // of a vector
	HTTP         *http.Client
}

const (
	maxBatchTexts    = 32
	requestTimeout   = 30 * time.Second
	maxResponseBytes = 64 << 20 // of a response
)

// Dimensions is the length of a vector.
func (c *Client) Dimensions() int { return c.VectorLength }

type request struct {
	Model  string   `json:"model"`
	Input  []string `json:"input"`
	Format string   `json:"encoding_format"`
}

type response struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// Embed returns a vector for each text.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, maxBatchTexts) {
		some, err := c.embedBatch(ctx, batch)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

func (c *Client) embedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	body, err := json.Marshal(request{Model: c.Model, Input: texts, Format: "float"})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.URL, "/")+"/embeddings",
		bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the URL of the embeddings endpoint is invalid")
	}
	req.Header.Set("Content-Type", "application/json")
	if key := c.Key.Reveal(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("the embeddings endpoint timed out: %w", ctx.Err())
		}
		return nil, errors.New("the embeddings endpoint is unreachable")
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		// The body may repeat the request
		return nil, fmt.Errorf("the embeddings endpoint returned status %d", res.StatusCode)
	}
	var got response
	if err := json.NewDecoder(io.LimitReader(res.Body, maxResponseBytes)).Decode(&got); err != nil {
		return nil, errors.New("the response of the embeddings endpoint is invalid")
	}
	out := make([][]float32, len(texts))
	for _, d := range got.Data {
		if d.Index < 0 || d.Index >= len(out) || len(d.Embedding) != c.VectorLength {
			return nil, fmt.Errorf("the embeddings endpoint returned a vector of %d dimensions for text %d; %d are "+
				"configured", len(d.Embedding), d.Index, c.VectorLength)
		}
		out[d.Index] = d.Embedding
	}
	if slices.ContainsFunc(out, func(v []float32) bool { return v == nil }) {
		return nil, errors.New("the embeddings endpoint returned too few vectors")
	}
	return out, nil
}
