package fake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"

	"dateline/platforms/network"
)

// nostrStored is an event at one relay, and the event that asked to delete it.
type nostrStored struct {
	Event     nostrEvent  `json:"event"`
	DeletedBy *nostrEvent `json:"deleted_by,omitempty"`
}

func nostrObject(relay, id string) string { return "nostr/" + relay + "/" + id }

// nostrPut stores an event at a relay. The caller must hold s.mu.
func (s nostrFake) nostrPut(relay, id string, stored nostrStored) error {
	return s.putObject(Object{
		ID: nostrObject(relay, id), Network: nostrName, Kind: "event", AccountID: stored.Event.PubKey,
		CreatedAt: s.now(),
	}, stored)
}

// nostrFind returns an event that a relay shows. The caller must hold s.mu.
func (s nostrFake) nostrFind(relay, id string) (stored nostrStored, known, shown bool) {
	_, known = s.object(nostrName, "event", nostrObject(relay, id), &stored)
	p := s.state.postByID[stored.Event.ID]
	return stored, known, known && p != nil && s.isListed(p)
}

// nostrEvent takes an event.
func (s nostrFake) nostrEvent(w http.ResponseWriter, r *http.Request, c caller) {
	const maxAhead = 15 * time.Minute
	var e nostrEvent
	received := s.now()
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		s.networkNamed(nostrName).refuse(w, http.StatusBadRequest, "cannot parse the event")
		return
	}
	problem := e.problem()
	if time.Unix(e.CreatedAt, 0).Sub(received) > maxAhead {
		problem = "invalid: created_at is too far in the future"
	}
	name := r.PathValue("relay")
	relay, accepted, reason := nostrRelays()[name], problem == "", problem
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, known, shown := s.nostrFind(name, e.ID)
	var err error
	switch {
	case !accepted || relay.drops:
	case e.Kind == 5:
		err = s.nostrDelete(name, e)
	case known && (shown || !relay.restores):
		accepted, reason = !relay.refuses, relay.again
		if stored.DeletedBy != nil {
			accepted, reason = false, "blocked: this event is deleted"
		}
		err = s.commit(record{Kind: kindRepeat, ID: e.ID})
	default:
		if p := s.state.postByID[e.ID]; p == nil || p.Deleted {
			post := e.post(c.account, s.state.media)
			post.ReceivedAt, post.URL = received, s.networkNamed(nostrName).root(r)+"/"+e.ID
			err = s.storePost(r, &post)
		}
		if err == nil {
			err = s.nostrPut(name, e.ID, nostrStored{Event: e})
		}
		if d := e.tag("d"); d != "" && err == nil {
			err = s.nostrPut(name, "d/"+e.PubKey+"/"+d, nostrStored{Event: e})
		}
	}
	if err != nil {
		accepted, reason = false, "error: "+err.Error()
	}
	writeJSON(w, http.StatusOK, []any{"OK", e.ID, accepted, reason})
}

// nostrDelete deletes what the author of a deletion asks for. The caller must hold s.mu.
func (s nostrFake) nostrDelete(relay string, deletion nostrEvent) error {
	for _, tag := range deletion.Tags {
		if len(tag) < 2 || tag[0] != "e" {
			continue
		}
		stored, known, _ := s.nostrFind(relay, tag[1])
		if !known || stored.Event.PubKey != deletion.PubKey {
			continue
		}
		stored.DeletedBy = &deletion
		if err := s.nostrPut(relay, tag[1], stored); err != nil {
			return err
		}
		if err := s.commit(record{Kind: kindDelete, ID: tag[1]}); err != nil {
			return err
		}
	}
	return nil
}

// post is what a client shows of an event.
func (e nostrEvent) post(account Account, media map[string]*Media) Post {
	post := Post{
		ID: e.ID, Network: nostrName, AccountID: account.ID, Account: account.Name, Text: e.Content,
		Visibility: "public", CreatedAt: time.Unix(e.CreatedAt, 0).UTC(), Options: map[string]any{},
	}
	var topics []string
	for _, tag := range e.Tags {
		if len(tag) < 2 {
			continue
		}
		switch name, value := tag[0], tag[1]; name {
		case "imeta":
			post.attach(tag[1:], media)
		case "e":
			if post.ReplyTo == "" || slices.Contains(tag, "reply") {
				post.ReplyTo = value
			}
		case "l":
			post.Language = value
		case "t":
			topics = append(topics, value)
		case "title":
			post.Text = strings.TrimSpace(value + "\n\n" + post.Text)
			post.Options[name] = value
		case "summary", "d", "content-warning":
			post.Options[name] = value
		case "expiration":
			at, _ := strconv.ParseInt(value, 10, 64)
			post.Options[name] = strconv.FormatInt((at-e.CreatedAt)/3600, 10) + " h"
		case "image":
			post.Options[name] = true
		}
	}
	if topics != nil {
		post.Options["t"] = topics
	}
	return post
}

// attach adds an uploaded file, whose address is not part of the text.
func (p *Post) attach(about []string, media map[string]*Media) {
	facts := map[string]string{}
	for _, one := range about {
		name, value, _ := strings.Cut(one, " ")
		facts[name] = value
	}
	for _, form := range []string{"![" + facts["alt"] + "](" + facts["url"] + ")", facts["url"]} {
		p.Text = strings.TrimSpace(strings.Replace(p.Text, form, "", 1))
	}
	if m := media[facts["x"]]; m != nil {
		attached := *m
		attached.Description = facts["alt"]
		p.Media = append(p.Media, attached)
	}
}

// nostrRequest lists or counts events.
func (s nostrFake) nostrRequest(w http.ResponseWriter, r *http.Request) {
	var filters []struct {
		IDs, Authors []string
		Kinds        []int
		Events       []string `json:"#e"`
		Names        []string `json:"#d"`
	}
	var id string
	var values []json.RawMessage
	if json.NewDecoder(r.Body).Decode(&values) != nil || len(values) < 2 || json.Unmarshal(values[0], &id) != nil {
		s.networkNamed(nostrName).refuse(w, http.StatusBadRequest, "bad filter")
		return
	}
	raw, _ := json.Marshal(values[1:]) // was read from JSON
	if json.Unmarshal(raw, &filters) != nil {
		s.networkNamed(nostrName).refuse(w, http.StatusBadRequest, "bad filter")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	relay, encoder := r.PathValue("relay"), json.NewEncoder(w)
	if strings.HasSuffix(r.URL.Path, "/count") {
		f := filters[0]
		p := s.state.postByID[slices.Concat(f.Events, []string{""})[0]]
		metric := map[int]network.Metric{7: network.MetricLikes, 1: network.MetricReplies, 6: network.MetricReposts}
		if p == nil || len(f.Kinds) == 0 {
			_ = encoder.Encode([]any{"COUNT", id, map[string]int{"count": 0}})
			return
		}
		count, known := s.metric(r, p, strconv.Itoa(f.Kinds[0]), metric[f.Kinds[0]])
		if !known {
			_ = encoder.Encode([]any{"CLOSED", id, "unsupported: this relay does not count these"})
			return
		}
		_ = encoder.Encode([]any{"COUNT", id, map[string]int64{"count": count}})
		return
	}
	show := func(e nostrEvent) { _ = encoder.Encode([]any{"EVENT", id, e}) }
	for _, f := range filters {
		for _, wanted := range f.IDs {
			if stored, _, shown := s.nostrFind(relay, wanted); shown {
				show(stored.Event)
			}
		}
		for _, wanted := range f.Events {
			if stored, _, _ := s.nostrFind(relay, wanted); slices.Contains(f.Kinds, 5) && stored.DeletedBy != nil {
				show(*stored.DeletedBy)
			}
		}
		for _, author := range f.Authors {
			for _, name := range f.Names {
				if stored, _, shown := s.nostrFind(relay, "d/"+author+"/"+name); shown {
					show(stored.Event)
				}
			}
			if a := s.state.accounts[author]; a != nil && slices.Contains(f.Kinds, 0) {
				show(nostrProfile(r, *a))
			}
		}
	}
}

// nostrProfile is the profile of an account.
func nostrProfile(r *http.Request, a Account) nostrEvent {
	about, _ := json.Marshal(map[string]string{ // strings always marshal
		"name": a.Name, "display_name": strings.ToUpper(a.Name[:1]) + a.Name[1:], "picture": avatarOf(r, a),
		"nip05": "_@" + a.Name + ".example",
	})
	e := nostrEvent{PubKey: a.ID, CreatedAt: a.CreatedAt.Unix(), Tags: [][]string{}, Content: string(about)}
	e.ID = e.hash()
	raw, _ := hex.DecodeString(a.Token)
	id, _ := hex.DecodeString(e.ID)
	key, _ := btcec.PrivKeyFromBytes(raw)
	if signature, err := schnorr.Sign(key, id); err == nil {
		e.Sig = hex.EncodeToString(signature.Serialize())
	}
	return e
}

// nostrUpload stores a file (https://github.com/hzrd149/blossom/blob/master/buds/02.md), whose
// id is its hash: the same bytes are one file.
func (s nostrFake) nostrUpload(w http.ResponseWriter, r *http.Request, c caller) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 100<<20))
	m := Media{AccountID: c.account.ID}
	m.MIMEType, _, _ = strings.Cut(r.Header.Get("Content-Type"), ";")
	sum := sha256.Sum256(data)
	m.ID = hex.EncodeToString(sum[:])
	if err == nil {
		m.Bytes, err = s.saveMedia(m.ID, strings.NewReader(string(data)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scheduleMedia(r, &m)
	m.ReadyAt, m.ExpiresAt = s.now(), time.Time{}
	if err == nil {
		err = s.commit(record{Kind: kindMedia, Media: &m})
	}
	if err != nil {
		s.networkNamed(nostrName).refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"url": base(r) + "/media/" + m.ID, "sha256": m.ID, "size": m.Bytes, "type": m.MIMEType,
		"uploaded": s.now().Unix(),
	})
}
