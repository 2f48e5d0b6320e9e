package crawltest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// hugeBytes is the declared size of /huge.
const hugeBytes = 10 << 30

// trap serves what crawlers fall into:
//
//	/lich/2026/11             a calendar without end
//	/phien;jsessionid=…       a new session id on every link
//	/kho/1                    lists of lists without end
//	/loop/1                   redirects without end
//	/huge                     10 GB
//	/bomb                     1 GiB of zeros in 1 MiB of gzip
//	/drip                     a byte now and then, for ever
//	/hang                     no answer
//	/cut                      a body that breaks off
//	/status/503               that status
//	/to?url=…                 a redirect to anywhere
func (s *Site) trap(out http.ResponseWriter, r *http.Request) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	first, _, _ = strings.Cut(first, ";")
	switch first {
	case "lich":
		s.calendar(out, r, rest)
	case "phien":
		s.sessions(out, r)
	case "kho":
		s.archive(out, r, rest)
	case "loop":
		number, _ := strconv.Atoi(rest)
		http.Redirect(out, r, "/loop/"+strconv.Itoa(number+1), http.StatusFound)
	case "huge":
		out.Header().Set("Content-Type", "text/html")
		if rest == "" {
			out.Header().Set("Content-Length", strconv.Itoa(hugeBytes))
		}
		s.sendHuge(out, r)
	case "bomb":
		out.Header().Set("Content-Type", "text/html")
		out.Header().Set("Content-Encoding", "gzip")
		bomb(out)
	case "drip":
		s.drip(out, r)
	case "hang":
		select {
		case <-r.Context().Done():
		case <-s.world.stop:
		}
	case "cut":
		out.Header().Set("Content-Type", "text/html")
		out.Header().Set("Content-Length", "1000")
		_, _ = out.Write([]byte("<p>half"))
	case "status":
		status, err := strconv.Atoi(rest)
		if err != nil || status < 200 || status > 599 {
			status = http.StatusNotFound
		}
		http.Error(out, http.StatusText(status), status)
	case "to":
		out.Header().Set("Location", r.URL.Query().Get("url"))
		out.WriteHeader(http.StatusFound)
	default:
		http.NotFound(out, r)
	}
}

func (s *Site) calendar(out http.ResponseWriter, r *http.Request, rest string) {
	month, err := time.Parse("2006/1", rest)
	if err != nil {
		month = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	}
	var page strings.Builder
	fmt.Fprintf(&page, `<title>Lịch %s</title>`, month.Format("1/2006"))
	for _, step := range []int{-1, 1} {
		other := month.AddDate(0, step, 0)
		fmt.Fprintf(&page, `<a href="/lich/%d/%d">%s</a> `, other.Year(), other.Month(), other.Format("1/2006"))
	}
	s.write(out, r, "text/html; charset=utf-8", []byte(page.String()))
}

// archive links to the next thirty archive pages.
func (s *Site) archive(out http.ResponseWriter, r *http.Request, rest string) {
	number, _ := strconv.Atoi(rest)
	var page strings.Builder
	fmt.Fprintf(&page, `<title>Kho %d</title>`, number)
	for i := range 30 {
		fmt.Fprintf(&page, `<a href="/kho/%d">%d</a> `, number+1+i, number+1+i)
	}
	s.write(out, r, "text/html; charset=utf-8", []byte(page.String()))
}

func (s *Site) sessions(out http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.served++
	served := s.served
	s.mu.Unlock()
	page := fmt.Sprintf(
		`<title>Phiên</title><a href="/phien;jsessionid=%032X">a</a> <a href="/phien?PHPSESSID=%032x">b</a> <a href="/phien?sid=%032x">c</a>`,
		served, served, served)
	s.write(out, r, "text/html; charset=utf-8", []byte(page))
}

func (s *Site) sendHuge(out http.ResponseWriter, r *http.Request) {
	block := bytes.Repeat([]byte("<p>10 GB "), 7000)
	for sent := 0; sent < hugeBytes; sent += len(block) {
		if _, err := out.Write(block); err != nil || r.Context().Err() != nil {
			return
		}
	}
}

// bomb writes 1 GiB that compresses by a factor of a thousand.
func bomb(out http.ResponseWriter) {
	z, _ := gzip.NewWriterLevel(out, gzip.BestSpeed)
	defer func() { _ = z.Close() }()
	block := make([]byte, 1<<20)
	for range 1 << 10 {
		if _, err := z.Write(block); err != nil {
			return
		}
	}
}

func (s *Site) drip(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Content-Type", "text/html")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := out.Write([]byte("x")); err != nil {
			return
		}
		_ = http.NewResponseController(out).Flush()
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.world.stop:
			return
		}
	}
}
