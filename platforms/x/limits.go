package x

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"dateline/internal/infra/message"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

const gif = "image/gif"

// Limits come from the options: X's API does not report them.
func (x *X) Limits(_ context.Context, account network.Account) (network.Limits, error) {
	if _, _, err := x.hosts(account.BaseURL); err != nil {
		return network.Limits{}, err
	}
	o := x.options
	characters := o.MaxCharacters
	if account.Settings["tier"] == "premium" {
		characters = o.MaxCharactersPremium
	}
	return network.Limits{
		AllowedBy:        "X",
		MaxCharacters:    characters,
		CharactersPerURL: o.CharactersPerURL,
		MaxMedia:         o.MaxImages,
		MIMETypes:        []string{"image/jpeg", "image/png", "image/webp", gif, "video/mp4", "video/quicktime"},
		MaxImageBytes:    o.MaxImageBytes,
		MaxVideoBytes:    o.MaxVideoBytes,
		MinVideoDuration: time.Duration(o.MinVideoMillis) * time.Millisecond,
		MaxVideoDuration: time.Duration(o.MaxVideoSeconds) * time.Second,
		// https://docs.x.com/x-api/media/quickstart/best-practices
		Video: network.VideoLimits{
			MaxFrameRate: 60, Codecs: []string{"h264"}, AudioCodecs: []string{"aac"},
			Chroma: "420",
		},
		MaxAltText:     o.MaxAltText,
		SupportsReply:  true,
		RejectsRepeats: true,
		FinishesWithin: network.UsualFinish,
		Poll:           pollLimits(),
		Quotas:         x.quotas(),
	}, nil
}

// Check returns what X would refuse.
func (x *X) Check(content network.Content, limits network.Limits) []network.Violation {
	stills := content
	stills.Media = make([]network.MediaInfo, len(content.Media))
	var own []network.Violation
	for i, media := range content.Media {
		if media.MIMEType == gif {
			if media.Bytes > x.options.MaxGIFBytes {
				own = append(own, network.NewViolation(fmt.Sprintf("attachments[%d]", i), "gif_too_large",
					"Attachment {number} has {used_bytes}; {network} allows a GIF {limit_bytes}.", i+1,
					network.Bytes(media.Bytes), "X", network.Bytes(x.options.MaxGIFBytes)))
			}
			if len(content.Media) > 1 {
				own = append(own, network.NewViolation("attachments", "mixed_gif",
					"{network} accepts a GIF only as the single attachment of a post.", "X"))
			}
			media.Bytes = 0 // the size limit of images does not apply
		}
		stills.Media[i] = media
	}
	problems := append(rules.Check("X", stills, limits, x.Count(content.Text, limits)), own...)
	if strings.ContainsFunc(content.Text, invalidChar) {
		problems = append(problems,
			network.NewViolation("content", "refused_character",
				"The text contains a character that X does not accept (U+FEFF, U+FFFE or U+FFFF)."))
	}
	if n := cashtags(content.Text); x.options.MaxCashtags >= 0 && n > x.options.MaxCashtags {
		problems = append(problems, network.NewViolation("content", "too_many_cashtags",
			"The text has {used} cashtags such as $NYSE; X allows {limit}.", n, x.options.MaxCashtags))
	}
	options, _ := content.Options.(PostOptions)
	return append(problems, options.problems(content, limits)...)
}

// Price returns what X charges for a post
// (https://docs.x.com/x-api/getting-started/pricing).
func (x *X) Price(content network.Content) network.Price {
	price := network.Price{
		MicroUSD: max(x.options.PostPrice, 0), Reasons: message.One("posts_are_charged", "X charges for every post."),
	}
	if len(links([]rune(norm.NFC.String(content.Text)))) > 0 {
		price = network.Price{
			MicroUSD: max(x.options.PostWithURL, 0),
			Reasons:  message.One("links_cost_more", "X charges more for a post with a link."),
		}
	}
	described := int64(0)
	for _, media := range content.Media {
		if media.AltText != "" {
			described++
		}
	}
	if each := max(x.options.AltTextPrice, 0); described > 0 && each > 0 {
		price.MicroUSD += described * each
		price.Reasons = append(price.Reasons,
			message.New("descriptions_are_charged", "Descriptions of attachments are charged as well."))
	}
	return price
}
