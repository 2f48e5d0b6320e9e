package scheduling

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// ParseOptions parses a post's options for a network; nil: none.
func ParseOptions(adapter network.Network, raw json.RawMessage) (network.PostOptions, []network.Violation) {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "{}" {
		return nil, nil
	}
	parser, ok := adapter.(network.OptionParser)
	if !ok {
		return nil, []network.Violation{
			network.NewViolation("options", "no_options", "Posts to {network} have no options. Remove them.",
				adapter.Name()),
		}
	}
	options, problems := parser.ParseOptions(raw)
	if len(problems) > 0 {
		return nil, problems
	}
	if written, err := json.Marshal(options); err == nil && string(written) == "{}" {
		return nil, nil
	}
	return options, nil
}

// SegmentOptions are the options of one segment of a thread, of those of its
// first one.
func SegmentOptions(options network.PostOptions, segment int) network.PostOptions {
	if options == nil || segment == 0 {
		return options
	}
	return options.Following()
}

// options parses the options for a target's network and reports unknown ones.
func (c *check) options(
	p post.Post, a account.Account, o *post.Override, adapter network.Network, add func(apperr.FieldError),
) network.PostOptions {
	if o != nil && o.Options != nil {
		for _, name := range o.Options.Networks() {
			if name != a.Network {
				add(apperr.Field("overrides."+a.ID.String()+".options."+name, "other_network",
					"The account {handle} is on {network}. Remove the options for {other}.", a.Handle, a.Network, name))
			}
		}
	}
	options, problems := ParseOptions(adapter, p.OptionsFor(post.Target{Network: a.Network, Override: o}))
	for _, found := range problems {
		add(apperr.FieldError{
			Field: fieldOf(0, a, o, found.Field), Code: found.Code, Message: found.Message,
			Params: found.Params,
		})
	}
	return options
}

// checkOptionText refuses options that the database cannot store.
func (c *check) checkOptionText(field string, raw json.RawMessage) {
	if !utf8.Valid(raw) || bytes.Contains(raw, []byte(`\u0000`)) {
		c.add(field, "invalid_text", "The options must be valid UTF-8 without NUL.")
	}
}
