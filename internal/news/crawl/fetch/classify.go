package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"strings"

	"dateline/internal/infra/retry"
	"dateline/internal/infra/ssrf"
	"dateline/internal/news/crawl/charset"
)

// answered reads an answer that does not redirect.
func (a *attempt) answered(res *http.Response, stop context.CancelFunc) {
	r := a.result
	r.ContentType = mediaType(res.Header.Get("Content-Type"))
	r.RetryAfter = retry.After(res.Header, a.f.options.Now(), a.f.limits.Pause)
	status := res.StatusCode
	switch {
	case status == http.StatusNotModified && (a.request.ETag != "" || a.request.LastModified != ""):
		// Validators that a 304 does not repeat stay (RFC 9110 §15.4.5).
		r.ETag, r.LastModified = a.request.ETag, a.request.LastModified
		a.validators(res.Header)
		a.ends(NotModified, "it did not change")
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && r.RetryAfter > 0:
		a.ends(Throttled, fmt.Sprintf("the server answers %d: too many requests", status))
	case status == http.StatusNotFound, status == http.StatusGone, status == http.StatusUnavailableForLegalReasons:
		a.ends(Gone, fmt.Sprintf("the server answers %d", status))
	case status >= 500:
		a.ends(ServerError, fmt.Sprintf("the server answers %d", status))
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		a.ends(ServerError, fmt.Sprintf("the server answers %d", status))
	case status == http.StatusOK, status == http.StatusNonAuthoritativeInfo:
		a.validators(res.Header)
		a.body(res, stop)
	case status >= 400:
		a.ends(Refused, fmt.Sprintf("the server answers %d", status))
	default:
		// 204, 206, a redirect to nowhere: no page.
		a.ends(Refused, fmt.Sprintf("the server answers %d without a page", status))
	}
}

func (a *attempt) validators(header http.Header) {
	if etag := header.Get("ETag"); etag != "" && len(etag) <= 1024 {
		a.result.ETag = etag
	}
	if modified := header.Get("Last-Modified"); modified != "" {
		if _, err := http.ParseTime(modified); err == nil {
			a.result.LastModified = modified
		}
	}
}

// body reads, decompresses, checks and decodes a page.
func (a *attempt) body(res *http.Response, stop context.CancelFunc) {
	r := a.result
	if r.ContentType != "" && !fits(a.request.Kind, r.ContentType) {
		a.ends(WrongType, "it is "+r.ContentType)
		return
	}
	read, err := a.read(res, stop)
	r.WireBytes += read.wire
	r.Encoding = read.encoding
	if err != nil {
		a.failed(err)
		return
	}
	if sniffed := mediaType(http.DetectContentType(read.body)); binary(sniffed) || r.ContentType == "" && len(read.body) > 0 && !fits(a.request.Kind, sniffed) {
		a.ends(WrongType, "it is "+sniffed)
		return
	}
	r.Body = read.body
	r.Text, r.Charset = charset.Decode(r.Body, res.Header.Get("Content-Type"))
	a.ends(OK, "")
}

func mediaType(header string) string {
	media, _, err := mime.ParseMediaType(header)
	if err != nil {
		media, _, _ = strings.Cut(header, ";")
	}
	return strings.ToLower(strings.TrimSpace(media))
}

// fits says whether a content type can be what is asked for. Feeds, sitemaps and
// robots.txt come under all kinds of names; what is plainly something else is
// not read at all.
func fits(kind Kind, contentType string) bool {
	if kind == Page {
		return contentType == "text/html" || contentType == "application/xhtml+xml"
	}
	return !binary(contentType) || kind != Robots &&
		(contentType == "application/gzip" || contentType == "application/x-gzip" || contentType == "application/octet-stream")
}

func binary(contentType string) bool {
	major, minor, _ := strings.Cut(contentType, "/")
	switch major {
	case "image":
		return minor != "svg+xml" // some servers send XML under it
	case "audio", "video", "font":
		return true
	}
	switch minor {
	case "pdf", "zip", "gzip", "x-gzip", "octet-stream", "msword", "wasm", "x-rar-compressed", "vnd.ms-fontobject":
		return true
	}
	return strings.HasPrefix(minor, "vnd.openxmlformats")
}

// failed says what an error means. The text names no address that a name
// resolved to: people see it, and it may be of the operator's own network.
func (a *attempt) failed(err error) {
	var dns *net.DNSError
	var network net.Error
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case ssrf.IsBlocked(err), errors.Is(err, errLocalName):
		a.ends(RefusedAddress, "its address is private or its port unusual")
	case errors.Is(err, errWire), errors.Is(err, errBody), errors.Is(err, errRatio):
		a.ends(TooBig, err.Error())
	case errors.Is(err, errSlow), errors.Is(err, errIdle):
		a.ends(Timeout, err.Error())
	case errors.Is(err, errEncoding):
		a.ends(WrongType, err.Error())
	case errors.As(err, &dns) && !dns.IsTimeout:
		a.ends(Unreachable, "its name cannot be resolved")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		errors.As(err, &network) && network.Timeout():
		a.ends(Timeout, "it took too long")
	case errors.As(err, &cert):
		a.ends(Unreachable, "its certificate is not valid")
	case errors.As(err, &record):
		a.ends(Unreachable, "it does not speak TLS")
	default:
		a.ends(Unreachable, "the connection failed")
	}
}
