// Package embed makes vectors of texts at an OpenAI-compatible endpoint
// (https://platform.openai.com/docs/api-reference/embeddings), which Ollama,
// vLLM, Mistral and others have too.
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

// Client asks one model.
type Client struct {
	URL          string // of the API, such as https://api.example/v1
	Key          secret.Text
	Model        string
	VectorLength int // of a vector
	HTTP         *http.Client
}

const (
	maxBatchTexts    = 32
	requestTimeout   = 30 * time.Second
	maxResponseBytes = 64 << 20 // of an answer
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

// Embed makes a vector of each text.
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
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.URL, "/")+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the embeddings cannot be read")
	}
	request.Header.Set("Content-Type", "application/json")
	if key := c.Key.Reveal(); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := c.HTTP.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("the embeddings took too long: %w", ctx.Err())
		}
		return nil, errors.New("the embeddings cannot be reached")
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the embeddings answered %d", answer.StatusCode) // the text may repeat what was sent
	}
	var got response
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxResponseBytes)).Decode(&got); err != nil {
		return nil, errors.New("the embeddings' answer cannot be read")
	}
	out := make([][]float32, len(texts))
	for _, d := range got.Data {
		if d.Index < 0 || d.Index >= len(out) || len(d.Embedding) != c.VectorLength {
			return nil, fmt.Errorf("the embeddings gave a vector of %d numbers for text %d; %d are set up", len(d.Embedding), d.Index, c.VectorLength)
		}
		out[d.Index] = d.Embedding
	}
	if slices.ContainsFunc(out, func(v []float32) bool { return v == nil }) {
		return nil, errors.New("the embeddings left a text out")
	}
	return out, nil
}
