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

// handleResponse handles a response that does not redirect.
func (a *attempt) handleResponse(res *http.Response, stop context.CancelFunc) {
	r := a.result
	r.ContentType = mediaType(res.Header.Get("Content-Type"))
	r.RetryAfter = retry.After(res.Header, a.f.options.Now(), a.f.limits.MaxRetryAfter)
	status := res.StatusCode
	switch {
	case status == http.StatusNotModified && (a.request.ETag != "" || a.request.LastModified != ""):
		// Validators that a 304 does not repeat stay valid (RFC 9110 §15.4.5).
		r.ETag, r.LastModified = a.request.ETag, a.request.LastModified
		a.saveValidators(res.Header)
		a.finish(NotModified, "not modified")
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && r.RetryAfter > 0:
		a.finish(Throttled, fmt.Sprintf("the server responded with %d: too many requests", status))
	case status == http.StatusNotFound, status == http.StatusGone, status == http.StatusUnavailableForLegalReasons:
		a.finish(NotFound, fmt.Sprintf("the server responded with %d", status))
	case status >= 500:
		a.finish(ServerError, fmt.Sprintf("the server responded with %d", status))
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		a.finish(ServerError, fmt.Sprintf("the server responded with %d", status))
	case status == http.StatusOK, status == http.StatusNonAuthoritativeInfo:
		a.saveValidators(res.Header)
		a.handleBody(res, stop)
	case status >= 400:
		a.finish(ClientError, fmt.Sprintf("the server responded with %d", status))
	default:
		// 204, 206 or a redirect without a target: there is no page.
		a.finish(ClientError, fmt.Sprintf("the server responded with %d and no page", status))
	}
}

func (a *attempt) saveValidators(header http.Header) {
	if etag := header.Get("ETag"); etag != "" && len(etag) <= 1024 {
		a.result.ETag = etag
	}
	if modified := header.Get("Last-Modified"); modified != "" {
		if _, err := http.ParseTime(modified); err == nil {
			a.result.LastModified = modified
		}
	}
}

// handleBody reads, decompresses, checks and decodes a page.
func (a *attempt) handleBody(res *http.Response, stop context.CancelFunc) {
	r := a.result
	if r.ContentType != "" && !matchesKind(a.request.Kind, r.ContentType) {
		a.finish(WrongType, "the content type is "+r.ContentType)
		return
	}
	read, err := a.readBody(res, stop)
	r.WireBytes += read.wire
	r.Encoding = read.encoding
	if err != nil {
		a.handleError(err)
		return
	}
	if sniffed := mediaType(http.DetectContentType(read.body)); isBinary(sniffed) || r.ContentType == "" &&
		len(read.body) > 0 && !matchesKind(a.request.Kind, sniffed) {
		a.finish(WrongType, "the content type is "+sniffed)
		return
	}
	r.Body = read.body
	r.Text, r.Charset = charset.Decode(r.Body, res.Header.Get("Content-Type"))
	a.finish(OK, "")
}

func mediaType(header string) string {
	media, _, err := mime.ParseMediaType(header)
	if err != nil {
		media, _, _ = strings.Cut(header, ";")
	}
	return strings.ToLower(strings.TrimSpace(media))
}

// matchesKind reports whether a content type is plausible for a kind. Feeds,
// sitemaps and robots.txt are served under all kinds of types; only clearly
// different ones are rejected.
func matchesKind(kind Kind, contentType string) bool {
	if kind == KindPage {
		return IsHTML(contentType)
	}
	return !isBinary(contentType) || kind != KindRobots &&
		(contentType == "application/gzip" || contentType == "application/x-gzip" ||
			contentType == "application/octet-stream")
}

// IsHTML reports whether a content type is that of a page.
func IsHTML(contentType string) bool {
	return contentType == "text/html" || contentType == "application/xhtml+xml"
}

func isBinary(contentType string) bool {
	major, minor, _ := strings.Cut(contentType, "/")
	switch major {
	case "image":
		return minor != "svg+xml" // some servers use it for XML
	case "audio", "video", "font":
		return true
	}
	switch minor {
	case "pdf", "zip", "gzip", "x-gzip", "octet-stream", "msword", "wasm", "x-rar-compressed", "vnd.ms-fontobject":
		return true
	}
	return strings.HasPrefix(minor, "vnd.openxmlformats")
}

// handleError turns an error into an outcome. The reason must not contain the
// address that a name resolved to: users see it, and it may belong to the
// operator's network.
func (a *attempt) handleError(err error) {
	var dns *net.DNSError
	var network net.Error
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case ssrf.IsBlocked(err), errors.Is(err, errLocalName):
		a.finish(BlockedAddress, "the address is private or the port is not allowed")
	case errors.Is(err, errWireSize), errors.Is(err, errBodySize), errors.Is(err, errRatio):
		a.finish(TooBig, err.Error())
	case errors.Is(err, errSlow), errors.Is(err, errIdle):
		a.finish(Timeout, err.Error())
	case errors.Is(err, errEncoding):
		a.finish(WrongType, err.Error())
	case errors.As(err, &dns) && !dns.IsTimeout:
		a.finish(Unreachable, "the host name cannot be resolved")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		errors.As(err, &network) && network.Timeout():
		a.finish(Timeout, "the request timed out")
	case errors.As(err, &cert):
		a.finish(Unreachable, "the TLS certificate is invalid")
	case errors.As(err, &record):
		a.finish(Unreachable, "the server does not support TLS")
	default:
		a.finish(Unreachable, "the connection failed")
	}
}
