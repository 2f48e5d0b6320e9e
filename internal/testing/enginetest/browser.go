package enginetest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Browser is a headless Chromium that does not reveal that it is automated. It is
// controlled with the Chrome DevTools Protocol through a pipe
// (chromedevtools.github.io/devtools-protocol, "--remote-debugging-pipe").
type Browser struct {
	t   testing.TB
	out io.Writer

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
	broken  error
}

type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Tab is a page of a browser.
type Tab struct {
	browser *Browser
	session string
}

// userAgent is that of Chromium with a window.
const userAgent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
	"Safari/537.36"

// browserTimeout is the timeout of a response.
const browserTimeout = time.Minute

// Chromium starts a browser for the test. resolve maps host names to the address of a
// server, in the syntax of --host-resolver-rules.
func Chromium(t testing.TB, resolve string) *Browser {
	t.Helper()
	program := findChromium(t)
	theirIn, ourOut, errIn := os.Pipe()
	ourIn, theirOut, errOut := os.Pipe()
	if err := errors.Join(errIn, errOut); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// Closing the pipe ends the browser.
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--remote-debugging-pipe",
		"--disable-blink-features=AutomationControlled", "--accept-lang=vi-VN", "--disable-background-networking",
		"--disable-component-update", "--user-agent="+userAgent,
		"--host-resolver-rules="+resolve, "--user-data-dir="+filepath.Join(dir, "profile"), "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+dir)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	b := &Browser{t: t, out: ourOut, waiting: map[int]chan reply{}}
	var reader sync.WaitGroup
	reader.Go(func() { b.read(ourIn) })
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // and its child processes
		_ = cmd.Wait()
		_ = ourOut.Close()
		reader.Wait()
		_ = ourIn.Close()
	})
	return b
}

// read dispatches responses. Messages end with a zero byte.
func (b *Browser) read(from io.Reader) {
	r := bufio.NewReader(from)
	for {
		raw, err := r.ReadBytes(0)
		if err != nil {
			b.mu.Lock()
			b.broken = errors.New("the browser has ended")
			for id, waits := range b.waiting {
				close(waits)
				delete(b.waiting, id)
			}
			b.mu.Unlock()
			return
		}
		var message struct {
			ID int `json:"id"`
			reply
		}
		if json.Unmarshal(raw[:len(raw)-1], &message) != nil || message.ID == 0 {
			continue // an event
		}
		b.mu.Lock()
		if waits, ok := b.waiting[message.ID]; ok {
			delete(b.waiting, message.ID)
			waits <- message.reply
		}
		b.mu.Unlock()
	}
}

func (b *Browser) call(session, method string, params map[string]any, result any) error {
	b.mu.Lock()
	if b.broken != nil {
		b.mu.Unlock()
		return b.broken
	}
	b.next++
	message := map[string]any{"id": b.next, "method": method, "params": params}
	if session != "" {
		message["sessionId"] = session
	}
	raw, err := json.Marshal(message)
	if err != nil {
		b.mu.Unlock()
		return err
	}
	waits := make(chan reply, 1)
	b.waiting[b.next] = waits
	_, err = b.out.Write(append(raw, 0))
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case got, ok := <-waits:
		switch {
		case !ok:
			return errors.New("the browser has ended")
		case got.Error != nil:
			return fmt.Errorf("%s: %s", method, got.Error.Message)
		case result != nil:
			return json.Unmarshal(got.Result, result)
		}
		return nil
	case <-time.After(browserTimeout):
		return fmt.Errorf("%s: no response from the browser", method)
	}
}

// Open opens a tab in a profile of its own, without other tabs' cookies. extra are
// scripts that run before each page's own.
func (b *Browser) Open(extra ...string) *Tab {
	b.t.Helper()
	target := b.OpenUncontrolled("about:blank")
	var attached struct{ SessionID string }
	if err := b.call("", "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true},
		&attached); err != nil {
		b.t.Fatal(err)
	}
	tab := &Tab{browser: b, session: attached.SessionID}
	tab.Call("Page.enable", nil)
	tab.Call("Network.enable", nil)
	for _, script := range extra {
		tab.Call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script})
	}
	return tab
}

// OpenUncontrolled opens an address in a tab of its own profile that nothing controls,
// and returns its number. Only such a tab prerenders pages.
func (b *Browser) OpenUncontrolled(address string) (target string) {
	b.t.Helper()
	var context struct{ BrowserContextID string }
	var created struct{ TargetID string }
	if err := b.call("", "Target.createBrowserContext", map[string]any{}, &context); err != nil {
		b.t.Fatal(err)
	}
	if err := b.call("", "Target.createTarget",
		map[string]any{"url": address, "browserContextId": context.BrowserContextID}, &created); err != nil {
		b.t.Fatal(err)
	}
	return created.TargetID
}

// Call calls a method of the protocol.
func (t *Tab) Call(method string, params map[string]any) {
	t.browser.t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	if err := t.browser.call(t.session, method, params, nil); err != nil {
		t.browser.t.Fatal(err)
	}
}

// Go opens an address and waits until its page is loaded.
func (t *Tab) Go(address string) {
	t.browser.t.Helper()
	t.Call("Page.navigate", map[string]any{"url": address})
	t.Await("document.readyState=='complete'&&location.href!='about:blank'")
}

// Eval runs a script in the page and returns its result as text.
func (t *Tab) Eval(script string) string {
	t.browser.t.Helper()
	text, err := t.eval(script)
	if err != nil {
		t.browser.t.Fatal(err)
	}
	return text
}

func (t *Tab) eval(script string) (string, error) {
	var got struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := t.browser.call(t.session, "Runtime.evaluate", map[string]any{
		"expression": script, "returnByValue": true,
		"awaitPromise": true,
	}, &got); err != nil {
		return "", err
	}
	if got.ExceptionDetails != nil {
		return "", fmt.Errorf("%s: %s %s", script, got.ExceptionDetails.Text,
			got.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(got.Result.Value), nil
}

// Await waits until a script returns true; pages may change meanwhile.
func (t *Tab) Await(script string) {
	t.browser.t.Helper()
	var last string
	var err error
	for until := time.Now().Add(browserTimeout); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if last, err = t.eval(script); err == nil && last == "true" {
			return
		}
	}
	t.browser.t.Fatalf("%s is %s, %v", script, last, err)
}
