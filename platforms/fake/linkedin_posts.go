package fake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// linkedinDuplicateWindow is how long LinkedIn refuses repeated content, even if
// the post was deleted.
const linkedinDuplicateWindow = 24 * time.Hour

type linkedinMedia struct {
	ID      string `json:"id"`
	AltText string `json:"altText"`
	Title   string `json:"title"`
}

// linkedinBody is the body of a post.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/posts-api
type linkedinBody struct {
	Author       string `json:"author"`
	Commentary   string `json:"commentary"`
	Visibility   string `json:"visibility"`
	Distribution struct {
		Feed     string `json:"feedDistribution"`
		Targets  []any  `json:"targetEntities"`
		Channels []any  `json:"thirdPartyDistributionChannels"`
	} `json:"distribution"`
	Content struct {
		Media      *linkedinMedia `json:"media"`
		MultiImage *struct {
			Images []linkedinMedia `json:"images"`
		} `json:"multiImage"`
		Article *struct {
			Source      string `json:"source"`
			Title       string `json:"title"`
			Description string `json:"description"`
			Thumbnail   string `json:"thumbnail"`
		} `json:"article"`
		Poll *linkedinPoll `json:"poll,omitempty"`
	} `json:"content"`
	Lifecycle string `json:"lifecycleState"`
	NoReshare bool   `json:"isReshareDisabledByAuthor"`
}

func (b linkedinBody) media() []linkedinMedia {
	switch {
	case b.Content.Media != nil:
		return []linkedinMedia{*b.Content.Media}
	case b.Content.MultiImage != nil:
		return b.Content.MultiImage.Images
	default:
		return nil
	}
}

// fingerprint is equal for repeated content.
func (b linkedinBody) fingerprint() string {
	raw, _ := json.Marshal([]any{b.Author, b.Commentary, b.Content}) // cannot fail
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// validate returns what is wrong with a body, except for its media and author.
func (b linkedinBody) validate() (status int, code, text string) {
	length := len(utf16.Encode([]rune(LinkedInText(b.Commentary))))
	images := b.Content.MultiImage
	switch {
	case b.Lifecycle != "PUBLISHED" || b.Distribution.Feed != "MAIN_FEED":
		return http.StatusUnprocessableEntity, "MISSING_FIELD",
			"ERROR :: /lifecycleState :: field is required but not found and has no default value"
	case b.Visibility != "PUBLIC" && b.Visibility != "CONNECTIONS" && b.Visibility != "LOGGED_IN":
		return http.StatusUnprocessableEntity, "INVALID_VALUE_FOR_FIELD",
			"ERROR :: /visibility :: is not an enum symbol"
	case length > 3000:
		return http.StatusUnprocessableEntity, "FIELD_LENGTH_TOO_LONG",
			fmt.Sprintf("ERROR :: /commentary :: length of %d exceeds the maximum of 3000", length)
	case strings.TrimSpace(b.Commentary) == "" && len(b.media()) == 0 && b.Content.Article == nil:
		return http.StatusUnprocessableEntity, "MISSING_FIELD",
			"ERROR :: /commentary :: a post needs commentary or content"
	case images != nil && (len(images.Images) < 2 || len(images.Images) > 20):
		return http.StatusUnprocessableEntity, "INVALID_VALUE_FOR_FIELD",
			"ERROR :: /content/multiImage/images :: 2 to 20 images are allowed"
	case b.Content.Article != nil && (b.Content.Article.Title == "" || b.Content.Article.Source == ""):
		return http.StatusUnprocessableEntity, "MISSING_FIELD",
			"ERROR :: /content/article/title :: field is required but not found and has no default value"
	}
	if problem := b.Content.Poll.problem(len(b.media())); problem != "" {
		return http.StatusUnprocessableEntity, "INVALID_VALUE_FOR_FIELD", problem
	}
	for _, m := range b.media() {
		if len(utf16.Encode([]rune(m.AltText))) > 4086 {
			return http.StatusUnprocessableEntity, "FIELD_LENGTH_TOO_LONG",
				"ERROR :: /content/media/altText :: length exceeds the maximum of 4086"
		}
	}
	return http.StatusOK, "", ""
}

// linkedinPost creates a post: 201 without a body, and its id in a header.
// Repeated content is refused with the id of the first post.
func (s linkedinFake) linkedinPost(w http.ResponseWriter, r *http.Request, c caller) {
	received := s.now()
	var b linkedinBody
	if !readLinkedIn(w, r, &b) {
		return
	}
	author, refused := s.linkedinAuthor(w, b.Author, c)
	if refused {
		return
	}
	if status, code, text := b.validate(); status != http.StatusOK {
		refuseLinkedIn(w, status, code, "%s", text)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.state.keys[author.ID+"\x00"+b.fingerprint()]; ok && s.now().Before(known.Expires) {
		writeJSON(w, http.StatusUnprocessableEntity, linkedinError{
			Status: 422,
			Message: "com.linkedin.content.common.exception.BadRequestResponseException: Content is a duplicate of " +
				known.PostID,
			Details: &linkedinDetails{
				Inputs: []linkedinInput{{Code: "DUPLICATE_POST", Description: "Duplicate post is detected"}},
			},
		})
		return
	}
	post := Post{
		Network: "linkedin", AccountID: author.ID, Account: author.Name, Text: LinkedInText(b.Commentary),
		Visibility: strings.ToLower(b.Visibility), ReceivedAt: received, Options: b.options(),
	}
	kind, refused := s.linkedinAttach(w, &post, b.media())
	if refused {
		return
	}
	post.ID = "urn:li:" + kind + ":" + s.linkedinNumber(r)
	post.URL = base(r) + linkedinPrefix + "/feed/update/" + post.ID
	err := s.storePost(r, &post)
	if err == nil {
		err = s.commit(record{Kind: kindKey, Key: &key{
			AccountID: author.ID, Key: b.fingerprint(), PostID: post.ID, Expires: s.now().Add(linkedinDuplicateWindow),
		}})
	}
	if err != nil {
		refuseLinkedIn(w, http.StatusInternalServerError, "", "%v", err)
		return
	}
	w.Header().Set("X-Restli-Id", post.ID)
	w.Header().Set("Location", "/posts/"+url.QueryEscape(post.ID))
	w.WriteHeader(http.StatusCreated)
}

// linkedinAttach attaches media to a post. kind is share, or ugcPost with a
// video. The caller must hold s.mu.
func (s linkedinFake) linkedinAttach(
	w http.ResponseWriter, post *Post, media []linkedinMedia,
) (kind string, refused bool) {
	kind = "share"
	for _, one := range media {
		sort, id, _ := linkedinURN(one.ID)
		m := s.staged(id, post.AccountID)
		var u linkedinUpload
		_, begun := s.object("linkedin", kindLinkedInUpload, id, &u)
		switch {
		case sort != "image" && sort != "video" && sort != "document":
			refuseLinkedIn(w, http.StatusBadRequest, "INVALID_URN_TYPE", "Invalid URN Type")
			return "", true
		case begun && s.state.media[id] == nil, m != nil && sort != "image" && s.now().Before(m.ReadyAt):
			refuseLinkedIn(w, http.StatusBadRequest, "MEDIA_ASSET_WAITING_UPLOAD", "Media asset is waiting upload")
			return "", true
		case m == nil || u.urnKind() != sort:
			refuseLinkedIn(w, http.StatusBadRequest, "INVALID_URN_ID", "This URN Id is invalid")
			return "", true
		case m.Failed && !s.now().Before(m.ReadyAt):
			refuseLinkedIn(w, http.StatusBadRequest, "MEDIA_ASSET_PROCESSING_FAILED", "Media asset failed processing")
			return "", true
		case sort != "image" && len(media) > 1:
			refuseLinkedIn(w, http.StatusBadRequest, "INVALID_URN_TYPE", "Invalid URN Type")
			return "", true
		case sort == "document" && one.Title == "":
			refuseLinkedIn(w, http.StatusUnprocessableEntity, "MISSING_FIELD",
				"ERROR :: /content/media/title :: field is required but not found and has no default value")
			return "", true
		case sort != "image":
			kind = "ugcPost"
		}
		attached := *m
		attached.Description = one.AltText
		post.Media = append(post.Media, attached)
	}
	return kind, false
}

// linkedinNumber returns a post's id: milliseconds, then 22 bits, the lowest of
// which is 0; it is 1 in the id of the post's activity. The caller must hold
// s.mu.
func (s linkedinFake) linkedinNumber(r *http.Request) string {
	ms := s.now().Add(conditionsOf(r).skew).UnixMilli()
	low, _ := strconv.ParseUint(s.state.nextID(s.now()), 10, 64)
	return strconv.FormatInt(ms<<22|int64(low<<1&0x3fffff), 10) //nolint:gosec // 22 bits fit
}

// linkedinFind returns the post with the URN of a post or of its activity. The
// caller must hold s.mu.
func (s linkedinFake) linkedinFind(urn string) *Post {
	if number, ok := strings.CutPrefix(urn, "urn:li:activity:"); ok {
		n, _ := strconv.ParseInt(number, 10, 64)
		share := strconv.FormatInt(n&^1, 10)
		if p := s.state.postByID["urn:li:share:"+share]; p != nil {
			return p
		}
		return s.state.postByID["urn:li:ugcPost:"+share]
	}
	return s.state.postByID[urn]
}

// linkedinDelete responds the same if the post does not exist.
func (s linkedinFake) linkedinDelete(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.linkedinFind(r.PathValue("urn")); p != nil && !p.Deleted {
		if author := s.state.accounts[p.AccountID]; author.ID != c.account.ID && author.OwnerID != c.account.ID {
			refuseLinkedIn(w, http.StatusForbidden, "ACCESS_DENIED", "The viewer is not the author of the post")
			return
		}
		if err := s.commit(record{Kind: kindDelete, ID: p.ID}); err != nil {
			refuseLinkedIn(w, http.StatusInternalServerError, "", "%v", err)
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// linkedinPage redirects a permalink to the timeline.
func (s linkedinFake) linkedinPage(w http.ResponseWriter, r *http.Request) {
	urn := r.PathValue("urn")
	if short := r.URL.Query().Get("commentUrn"); short != "" {
		urn = strings.Replace(short, "urn:li:comment:(", "urn:li:comment:(urn:li:", 1)
	}
	s.mu.Lock()
	p := s.linkedinFind(urn)
	s.mu.Unlock()
	if p == nil {
		http.NotFound(w, r)
		return
	}
	http.Redirect(w, r, "/#p"+p.ID, http.StatusFound) //nolint:gosec // an id that the sandbox made
}

// LinkedInText returns the visible text of a commentary in LinkedIn's "little"
// text format. As on LinkedIn, the text is truncated without an error at the
// first reserved character that is neither escaped nor begins an element.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/little-text-format
func LinkedInText(commentary string) string {
	const escaped = `(?:\\.|[^\\|{}@\[\]()<>#*_~])`
	elements := regexp.MustCompile(`(?s)^(?:` +
		`\{hashtag\|(\\[#＃])\|(` + escaped + `+)\}` + // a hashtag as a template
		`|@\[(` + escaped + `+)\]\(urn:li:(?:person|organization):[A-Za-z0-9_-]+\)` + // a mention
		`|(#[\p{L}\p{M}\p{N}]+)` + // a hashtag
		`|(` + escaped + `))`)
	unescaped := regexp.MustCompile(`(?s)\\(.)`)
	var shown strings.Builder
	for commentary != "" {
		m := elements.FindStringSubmatch(commentary)
		if m == nil {
			break
		}
		for _, text := range m[1:] {
			shown.WriteString(unescaped.ReplaceAllString(text, "$1"))
		}
		commentary = commentary[len(m[0]):]
	}
	return shown.String()
}

// parseLittleText returns a text as LinkedIn returns it.
func parseLittleText(text string) string {
	text = regexp.MustCompile(`[\\|{}@\[\]()<>#*_~]`).ReplaceAllString(text, `\$0`)
	return regexp.MustCompile(`(^|\s)\\#(\p{L}[\p{L}\p{N}]*)`).ReplaceAllString(text, `$1{hashtag|\#|$2}`)
}
