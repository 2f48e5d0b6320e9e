package scheduling

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/message"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/media"

	"dateline/platforms/network"
)

// Verdict reports whether an account accepts a file.
type Verdict string

// The verdicts.
const (
	FitsAsIs      Verdict = "as_is"
	FitsConverted Verdict = "converted"
	DoesNotFit    Verdict = "no"
	FitUnknown    Verdict = "unknown" // the network's limits are not known
)

// MediaFit is the verdict on a file for one account.
type MediaFit struct {
	Account account.Account
	Verdict Verdict
	Changes message.Messages    // what a conversion would change
	Reasons []apperr.FieldError // why it does not fit, or why that is unknown
	Spec    *media.Spec         // of the conversion
}

// Rules returns the limits of a network that apply to a single file.
func Rules(l network.Limits) media.Rules {
	return media.Rules{
		By: l.AllowedBy, Types: l.MIMETypes, MaxImageBytes: l.MaxImageBytes,
		MaxVideoBytes: l.MaxVideoBytes,
		MaxPixels:     l.MaxImagePixels, MaxWidth: l.MaxImageWidth, MaxHeight: l.MaxImageHeight,
		MinRatio: l.MinImageRatio, MaxRatio: l.MaxImageRatio,
		MinDuration: l.MinVideoDuration, MaxDuration: l.MaxVideoDuration,
		MaxDocumentBytes: l.MaxDocumentBytes, MaxDocumentPages: l.MaxDocumentPages,
	}
}

// MediaFit reports for each given account, or for all connected ones, whether it
// accepts a file.
func (s *Scheduler) MediaFit(
	ctx context.Context, who workspace.Principal, id uuid.UUID, accounts []uuid.UUID,
) ([]MediaFit, error) {
	found, err := s.Store.MediaByID(ctx, who.WorkspaceID, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	item, ok := found[id]
	if !ok || item.Deleted {
		return nil, apperr.NotFound("media")
	}
	named, err := s.fitAccounts(ctx, who, accounts)
	if err != nil {
		return nil, err
	}
	k := newLookup(s, who.WorkspaceID)
	out := make([]MediaFit, len(named))
	for i, a := range named {
		out[i] = k.mediaFit(ctx, a, item)
	}
	return out, nil
}

func (s *Scheduler) fitAccounts(
	ctx context.Context, who workspace.Principal, ids []uuid.UUID,
) ([]account.Account, error) {
	if len(ids) == 0 {
		all, err := s.Store.Accounts(ctx, who.WorkspaceID)
		return slices.DeleteFunc(all, func(a account.Account) bool { return a.Status != account.Connected }), err
	}
	found, err := s.Store.AccountsByID(ctx, who.WorkspaceID, ids)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if !slices.ContainsFunc(found, func(a account.Account) bool { return a.ID == id }) {
			return nil, apperr.InvalidFields(apperr.Field("account", "unknown_account",
				"There is no account {account} (number {number} of those named).", id, i+1))
		}
	}
	return found, nil
}

// mediaFit plans the conversion, then lets the network's adapter check its result.
func (k *lookup) mediaFit(ctx context.Context, a account.Account, item media.Item) MediaFit {
	f := MediaFit{Account: a, Verdict: FitUnknown}
	adapter, ok := k.scheduler.Networks.Get(a.Network)
	if !ok {
		f.Reasons = []apperr.FieldError{
			apperr.Field("account", "unsupported_network", "This installation cannot publish to {network}.", a.Network),
		}
		return f
	}
	limits, err := k.limits(ctx, adapter, a)
	if err != nil {
		f.Reasons = []apperr.FieldError{
			{
				Field: "account", Code: "limits_unknown",
				Message: "The network did not return its limits. Try again later.",
			},
		}
		return f
	}
	plan := media.Fit(item, Rules(limits))
	info := MediaInfos([]media.Item{Converted(item, plan)})
	if f.Reasons = plan.Problems; plan.Fits() {
		for _, problem := range adapter.Check(network.Content{Text: "x", Media: info}, limits) {
			if strings.HasPrefix(problem.Field, "attachments") {
				f.Reasons = append(f.Reasons, apperr.FieldError{
					Field: "file", Code: problem.Code, Message: problem.Message, Params: problem.Params,
				})
			}
		}
	}
	switch {
	case len(f.Reasons) > 0:
		f.Verdict = DoesNotFit
	case plan.Convert != nil:
		f.Verdict, f.Changes, f.Spec = FitsConverted, plan.Changes, plan.Convert
	default:
		f.Verdict = FitsAsIs
	}
	return f
}

// ConvertedItems returns files as they would be after conversion for a network.
func ConvertedItems(items []media.Item, l network.Limits) []media.Item {
	planned := make([]media.Item, len(items))
	for i, item := range items {
		planned[i] = Converted(item, media.Fit(item, Rules(l)))
	}
	return planned
}

// Converted returns a file as it would be after the planned conversion. Its size in
// bytes is the maximum.
func Converted(item media.Item, plan media.Plan) media.Item {
	spec := plan.Convert
	if spec == nil {
		return item
	}
	item.MIMEType, item.Width, item.Height, item.Orientation = spec.MIMEType, spec.Width, spec.Height, 1
	if spec.MaxBytes > 0 {
		item.Bytes = min(item.Bytes, spec.MaxBytes)
	}
	return item
}
