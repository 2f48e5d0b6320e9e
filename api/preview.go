package api

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/message"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

// PreviewPost shows how a post would be published.
func (s *PostHandler) PreviewPost(
	ctx context.Context, r spec.PreviewPostRequestObject,
) (spec.PreviewPostResponseObject, error) {
	b := r.Body
	shown, err := s.Scheduler.Preview(ctx, principal(ctx),
		draftOf(&spec.PostCreate{
			Content: optional.Value(b.Content), ScheduledTime: b.ScheduledTime, Draft: b.Draft,
			Thread:  b.Thread,
			Options: b.Options, Overrides: b.Overrides, DropIfLateMinutes: b.DropIfLateMinutes,
			TrackLinks: b.TrackLinks, Utm: b.Utm, Attachments: b.Attachments, ThreadParentId: b.ThreadParentId,
			TimeZone: b.TimeZone, Accounts: b.Accounts, Language: b.Language, When: b.When,
			QueueGroupId: b.QueueGroupId,
		}))
	if err != nil {
		return nil, err
	}
	out := spec.PreviewPost200JSONResponse{
		Targets: []spec.TargetPreview{}, Problems: problemsJSON(shown.Problems),
		Warnings: warningsJSON(shown.Warnings, shown.TimeZone), Price: fullPrice(shown.Price),
	}
	if n := shown.Next; n != nil {
		out.NextSlot = &spec.NextSlot{
			QueueGroupId: n.Group.ID, Name: n.Group.Name, At: n.At, TimeZone: n.Group.TimeZone,
		}
	}
	for _, t := range shown.Targets {
		target := spec.TargetPreview{
			AccountId: t.Account.ID, Network: t.Account.Network, Handle: t.Account.Handle,
			Segments: []spec.SegmentPreview{}, Price: fullPrice(t.Price),
		}
		for _, one := range t.Segments {
			target.Segments = append(target.Segments, segmentPreview(one))
		}
		out.Targets = append(out.Targets, target)
	}
	return out, nil
}

func segmentPreview(one scheduling.SegmentPreview) spec.SegmentPreview {
	text := one.Network.Text
	out := spec.SegmentPreview{
		Problems: problemsJSON(one.Problems), Text: text, Spans: []spec.PreviewSpan{},
		Card:  optional.Of(one.Network.Card),
		Notes: notesJSON(one.Network.Notes), Price: fullPrice(one.Price),
	}
	if one.LimitsKnown {
		out.Characters = &one.Characters
		if one.MaxCharacters > 0 {
			out.CharactersAllowed = &one.MaxCharacters
		}
	}
	for _, span := range one.Network.Spans {
		out.Spans = append(out.Spans, spec.PreviewSpan{
			Start: characters(text, span.Start), End: characters(text, span.End), Kind: spec.PreviewSpanKind(span.Kind),
			Target: span.Target,
		})
	}
	if one.Network.FoldAt > 0 {
		fold := characters(text, one.Network.FoldAt)
		out.FoldAt = &fold
	}
	return out
}

// characters counts the characters in the first bytes of a text.
func characters(text string, bytes int) int {
	return utf8.RuneCountInString(text[:max(0, min(bytes, len(text)))])
}

func problemsJSON(problems []apperr.FieldError) []spec.FieldProblem {
	out := make([]spec.FieldProblem, len(problems))
	for i, p := range problems {
		out[i] = spec.FieldProblem{Field: p.Field, Code: p.Code, Message: p.Message, Params: messageParams(p.Params)}
	}
	return out
}

func notesJSON(notes message.Messages) []spec.Note {
	out := make([]spec.Note, len(notes))
	for i, n := range notes {
		out[i] = noteJSON(n)
	}
	return out
}

func noteJSON(n message.Message) spec.Note {
	return spec.Note{Code: n.Code, Message: n.Text, Params: messageParams(n.Params)}
}

// optionalNote returns nil for no message.
func optionalNote(n message.Message) *spec.Note {
	if n.Text == "" {
		return nil
	}
	note := noteJSON(n)
	return &note
}

// messageParams returns nil if a message has no values.
func messageParams(params message.Params) *spec.MessageParams {
	if len(params) == 0 {
		return nil
	}
	out := spec.MessageParams(params)
	return &out
}

// warningsJSON converts warnings, with times in the given time zone.
func warningsJSON(warnings []post.Warning, zone string) []spec.Warning {
	out := make([]spec.Warning, len(warnings))
	for i, w := range warnings {
		out[i] = spec.Warning{
			Code: w.Code, Message: w.Message, Params: messageParams(w.Params), PostId: w.PostID,
			OtherTime: w.At,
		}
		if w.AccountID != uuid.Nil {
			out[i].AccountId = &w.AccountID
		}
		if z, err := timezone.Load(zone); err == nil && w.At != nil {
			at := w.At.In(z)
			out[i].OtherTime = &at
		}
	}
	return out
}

// priceJSON returns nil for a price of 0.
func priceJSON(p post.Price) *spec.Price {
	if p.MicroUSD == 0 {
		return nil
	}
	price := fullPrice(p)
	return &price
}

func fullPrice(p post.Price) spec.Price {
	return spec.Price{MicroUsd: p.MicroUSD, Formatted: dollars(p.MicroUSD), Reasons: notesJSON(p.Reasons)}
}

// dollars formats an amount with all its digits, and at least cents.
func dollars(micro int64) string {
	text := fmt.Sprintf("$%d.%06d", micro/1e6, micro%1e6)
	for strings.HasSuffix(text, "0") && len(text)-strings.IndexByte(text, '.') > 3 {
		text = text[:len(text)-1]
	}
	return text
}
