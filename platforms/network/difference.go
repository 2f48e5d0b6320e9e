package network

// The codes of differences between a submission and what a network made of it
// (package matching, Comparison).
const (
	DifferenceText       = "text_differs"
	DifferenceCut        = "text_cut"
	DifferenceMedia      = "attachments_differ"
	DifferenceMediaOrder = "attachment_order_differs"
	DifferenceNoPoll     = "poll_lost"
	DifferencePoll       = "poll_differs"
	DifferenceNoReply    = "reply_lost"
	DifferenceReply      = "reply_differs"
	DifferenceVisibility = "visibility_differs"
	DifferenceWider      = "visibility_wider"
	DifferenceNoWarning  = "warning_lost"
	DifferenceNoCover    = "cover_lost"
	DifferenceWarning    = "warning_differs"
	DifferenceLanguage   = "language_differs"
	DifferenceTime       = "time_differs"
	DifferenceOption     = "option_differs"
	DifferenceRelays     = "relays_missing"
)

// IsSerious reports whether a difference exposes readers or the author to something
// that the submission guarded against. A person has to decide on such a post.
func IsSerious(code string) bool {
	switch code {
	case DifferenceWider, DifferenceNoWarning, DifferenceNoCover:
		return true
	}
	return false
}
