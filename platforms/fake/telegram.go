package fake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// telegramNetwork fakes the Bot API (https://core.telegram.org/bots/api). Each
// account is a channel with its own bot, whose token is the account's.
func (s telegramFake) telegramNetwork() *fakeNetwork {
	f := &fakeNetwork{
		name:   "telegram",
		prefix: "/telegram",
		isAPI:  func(path string) bool { return strings.HasPrefix(path, "/telegram/bot") },
		token: func(r *http.Request) string {
			token, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/telegram/bot"), "/")
			return token
		},
		refuse: func(w http.ResponseWriter, status int, text string) {
			if text == "" {
				text = telegramStatusMessage(status)
			}
			writeJSON(w, status, map[string]any{"ok": false, "error_code": status, "description": text})
		},
		writeThrottled: func(w http.ResponseWriter, wait time.Duration) {
			seconds := int((wait + time.Second - 1) / time.Second)
			writeJSON(w, http.StatusTooManyRequests,
				map[string]any{
					"ok": false, "error_code": http.StatusTooManyRequests,
					"description": "Too Many Requests: retry after " + strconv.Itoa(seconds),
					"parameters":  map[string]int{"retry_after": seconds},
				})
		},
	}
	f.expired = func(w http.ResponseWriter) { f.refuse(w, http.StatusUnauthorized, "") }
	f.routes = func(mux *http.ServeMux) {
		mux.HandleFunc("/telegram/{bot}/{method}",
			s.authenticatedFor(f, func(w http.ResponseWriter, r *http.Request, c caller) { s.telegram(w, r, f, c) },
				"chat"))
		mux.HandleFunc("GET /telegram/{name}", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/", http.StatusFound)
		})
	}
	return f
}

func telegramStatusMessage(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "Bad Request: chat not found"
	case http.StatusUnauthorized:
		return "Unauthorized"
	case http.StatusForbidden:
		return "Forbidden: bot was kicked from the channel chat"
	case http.StatusNotFound:
		return "Not Found"
	default:
		return http.StatusText(status)
	}
}

// telegram serves one method.
func (s telegramFake) telegram(w http.ResponseWriter, r *http.Request, f *fakeNetwork, c caller) {
	params, files, err := s.telegramParams(w, r, c)
	if err != nil {
		f.refuse(w, http.StatusBadRequest, "Bad Request: "+err.Error())
		return
	}
	method := r.PathValue("method")
	if method != "getMe" && params["chat_id"] != c.account.ID && params["chat_id"] != "@"+c.account.Name {
		f.refuse(w, http.StatusBadRequest, "Bad Request: chat not found")
		return
	}
	var result any
	var problem string
	switch method {
	case "getMe":
		result = map[string]any{
			"id": 4711, "is_bot": true, "first_name": "Dateline", "username": c.account.Name + "_bot",
		}
	case "getChat":
		result = telegramChat(c.account)
	case "getChatMember":
		result = map[string]any{"status": "administrator", "can_post_messages": true}
	case "deleteMessage":
		result, problem = s.telegramDelete(c, params["message_id"])
	case "sendMessage", "sendPhoto", "sendVideo", "sendAnimation", "sendMediaGroup", "sendPoll":
		result, problem = s.telegramSend(r, c, method, params, files)
	default:
		f.refuse(w, http.StatusNotFound, "")
		return
	}
	if problem != "" {
		f.refuse(w, http.StatusBadRequest, "Bad Request: "+problem)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"ok": true, "result": result})
}

func telegramChat(a Account) map[string]any {
	id, _ := strconv.ParseInt(a.ID, 10, 64)
	return map[string]any{
		"id": id, "type": "channel", "title": strings.ToUpper(a.Name[:1]) + a.Name[1:],
		"username": a.Name,
	}
}

// telegramParams decodes JSON or a form, whose files are stored.
func (s telegramFake) telegramParams(
	w http.ResponseWriter, r *http.Request, c caller,
) (params map[string]string, files map[string]Media, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, 60<<20)
	params, files = map[string]string{}, map[string]Media{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var fields map[string]any
		if err := json.NewDecoder(r.Body).Decode(&fields); err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, errors.New("can't parse JSON object")
		}
		for name, value := range fields {
			if number, ok := value.(float64); ok {
				value = strconv.FormatFloat(number, 'f', -1, 64)
			}
			params[name] = fmt.Sprint(value)
		}
		return params, files, nil
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return params, files, nil //nolint:nilerr // a method without parameters
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return params, files, nil
		}
		if err != nil {
			return nil, nil, errors.New("can't read the form")
		}
		if part.FileName() == "" {
			value, err := io.ReadAll(io.LimitReader(part, 1<<20))
			if err != nil {
				return nil, nil, errors.New("can't read the form")
			}
			params[part.FormName()] = string(value)
			continue
		}
		m, err := s.savePart(part, c)
		if err != nil {
			return nil, nil, errors.New("failed to read the file")
		}
		files[part.FormName()] = m
	}
}

// savePart stores a file that is sent with a post.
func (s *Server) savePart(part *multipart.Part, c caller) (Media, error) {
	s.mu.Lock()
	m := Media{
		ID: s.state.nextID(s.now()), AccountID: c.account.ID, MIMEType: part.Header.Get("Content-Type"),
		ReadyAt: s.now(),
	}
	s.mu.Unlock()
	var err error
	m.Bytes, err = s.saveMedia(m.ID, part)
	return m, err
}

// telegramSend creates one message, or one per file of an album.
func (s telegramFake) telegramSend(
	r *http.Request, c caller, method string, params map[string]string, files map[string]Media,
) (result any, problem string) {
	post := Post{
		Network: "telegram", AccountID: c.account.ID, Account: c.account.Name, ReceivedAt: s.now(),
		Visibility: "public",
	}
	limit := 1024
	field := map[string]string{"sendPhoto": "photo", "sendVideo": "video", "sendAnimation": "animation"}[method]
	switch method {
	case "sendMessage":
		post.Text, limit = params["text"], 4096
		if strings.TrimSpace(post.Text) == "" {
			return nil, "message text is empty"
		}
	case "sendPoll":
		post.Text, limit = params["question"], 4096
		if problem := telegramPollProblem(params); problem != "" {
			return nil, problem
		}
	case "sendMediaGroup":
		var album []struct {
			Type, Media, Caption string
			Spoiler              bool `json:"has_spoiler"`
			CaptionAbove         bool `json:"show_caption_above_media"`
		}
		if json.Unmarshal([]byte(params["media"]), &album) != nil || len(album) < 2 || len(album) > 10 {
			return nil, "can't parse media JSON object"
		}
		post.Text = album[0].Caption
		for _, one := range album {
			file, ok := files[strings.TrimPrefix(one.Media, "attach://")]
			if !ok {
				return nil, "wrong file identifier/HTTP URL specified"
			}
			post.Media = append(post.Media, file)
		}
		for name, chosen := range map[string]bool{
			"has_spoiler":              album[0].Spoiler,
			"show_caption_above_media": album[0].CaptionAbove,
		} {
			if chosen {
				params[name] = "true"
			}
		}
		if params["reply_markup"] != "" {
			return nil, "inline keyboard is not allowed in albums"
		}
	default:
		file, ok := files[field]
		if !ok {
			return nil, "there is no " + field + " in the request"
		}
		post.Text, post.Media = params["caption"], []Media{file}
	}
	if len(utf16.Encode([]rune(post.Text))) > limit {
		return nil, map[bool]string{true: "message is too long", false: "message caption is too long"}[limit == 4096]
	}
	var problemOfOption string
	if post.Options, problemOfOption = telegramOptions(params); problemOfOption != "" {
		return nil, problemOfOption
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if raw := params["reply_parameters"]; raw != "" {
		var reply struct {
			MessageID int64 `json:"message_id"`
		}
		_ = json.Unmarshal([]byte(raw), &reply)
		post.ReplyTo = s.telegramMessage(c, strconv.FormatInt(reply.MessageID, 10))
		if post.ReplyTo == "" {
			return nil, "message to be replied not found"
		}
	}
	if len(post.Media) == 0 {
		post.Media = []Media{}
	}
	var messages []map[string]any
	var ids []string
	for range max(len(post.Media), 1) {
		// Message ids are small numbers per chat.
		id := len(s.state.byAccount[c.account.ID])*10 + len(ids) + 1
		ids = append(ids, strconv.Itoa(id))
		messages = append(messages, map[string]any{"message_id": id, "chat": telegramChat(c.account), "date": 0})
	}
	post.ID, post.URL = strings.Join(ids, ","), "https://t.me/"+c.account.Name+"/"+ids[0]
	if err := s.storePost(r, &post); err != nil {
		return nil, err.Error()
	}
	post.CreatedAt = post.CreatedAt.Truncate(time.Second)
	messages = messages[:max(len(post.Media), 1)]
	for i, m := range messages {
		post.telegramShow(m, i)
	}
	if method == "sendMediaGroup" {
		return messages, ""
	}
	return messages[0], ""
}

// telegramShow adds to a message, the nth of an album, what it shows
// (https://core.telegram.org/bots/api#message).
func (p Post) telegramShow(message map[string]any, nth int) {
	message["date"] = p.CreatedAt.Unix()
	switch {
	case p.Options["options"] != nil:
		message["poll"] = map[string]any{"question": p.listedText(), "options": p.Options["options"]}
	case len(p.Media) == 0:
		message["text"] = p.listedText()
	case nth == 0 && p.Text != "":
		message["caption"] = p.listedText()
	}
	if len(p.Media) > 0 {
		kind := "photo"
		if !strings.HasPrefix(p.Media[nth].MIMEType, "image/") {
			kind = "video"
		}
		message[kind] = []any{map[string]any{"file_id": p.Media[nth].ID}}
	}
	if p.ReplyTo != "" {
		first, _, _ := strings.Cut(p.ReplyTo, ",")
		id, _ := strconv.Atoi(first)
		message["reply_to_message"] = map[string]any{"message_id": id}
	}
	for name, option := range map[string]string{
		"has_protected_content":    "protect_content",
		"has_media_spoiler":        "has_spoiler",
		"show_caption_above_media": "show_caption_above_media",
	} {
		if p.Options[option] == true && (option == "protect_content" || len(p.Media) > 0) {
			message[name] = true
		}
	}
}

// telegramMessage returns the post that a message belongs to. The caller must
// hold s.mu.
func (s telegramFake) telegramMessage(c caller, id string) string {
	for _, p := range s.state.byAccount[c.account.ID] {
		if !p.Deleted && strings.Contains(","+p.ID+",", ","+id+",") {
			return p.ID
		}
	}
	return ""
}

func (s telegramFake) telegramDelete(c caller, id string) (result any, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.state.byAccount[c.account.ID] {
		if !p.Deleted && p.ID == s.telegramMessage(c, id) {
			if err := s.commit(record{Kind: kindDelete, ID: p.ID}); err != nil {
				return nil, err.Error()
			}
			return true, ""
		}
	}
	return nil, "message to delete not found"
}
