package plausible

import (
	"cmp"
	"strings"

	"dateline/internal/audience/dimensions"
)

// channelNames maps channels to Plausible's names.
func channelNames() map[string]string {
	return map[string]string{
		string(dimensions.Direct): "Direct", string(dimensions.Search): "Organic Search",
		string(dimensions.Social): "Organic Social",
		string(dimensions.Video):  "Organic Video", string(dimensions.Email): "Email",
		string(dimensions.Push): "Mobile Push Notifications", string(dimensions.SMS): "SMS",
		string(dimensions.Affiliate): "Affiliates", string(dimensions.Display): "Display",
		string(dimensions.PaidSearch): "Paid Search",
		string(dimensions.PaidSocial): "Paid Social", string(dimensions.PaidVideo): "Paid Video",
		string(dimensions.PaidOther): "Paid Other",
		string(dimensions.Referral):  "Referral", string(dimensions.AI): "AI Assistants",
	}
}

const plausibleDirect = "Direct / None"

// toPlausible returns a value as Plausible names it.
func toPlausible(dimension, value string) string {
	switch dimension {
	case "visit:channel":
		return cmp.Or(channelNames()[value], value)
	case "visit:device":
		if value != "" {
			return strings.ToUpper(value[:1]) + value[1:]
		}
	case "visit:source":
		if value == string(dimensions.Direct) {
			return plausibleDirect
		}
	}
	return value
}

// fromPlausible is the reverse of toPlausible.
func fromPlausible(dimension, value string) string {
	switch dimension {
	case "visit:channel":
		for ours, name := range channelNames() {
			if name == value {
				return ours
			}
		}
	case "visit:device":
		return strings.ToLower(value)
	case "visit:source":
		if value == plausibleDirect {
			return string(dimensions.Direct)
		}
	}
	return value
}
