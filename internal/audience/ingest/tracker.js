// The tracker. Pages load it as follows; see docs/reference/tracker.md:
//   <script defer src="https://dateline.example/v1/d.js" data-site="dlw_…"></script>
// It is served minified; a test limits it to 1.2 kB of gzip.
(function (script, nav, place, from, doc, last, push) {
  // The current view: its random number, its page, the engaged time in ms and the
  // maximum scroll depth in percent. All of it is only in memory.
  var id, url, name, total, depth, start
  // When the engaged time was last updated, when the reader becomes idle, whether
  // the page was visible and focused since, and the state of the heartbeats.
  var mark, idle, on, sent, gone, timer, step

  // No type: a view. more: further fields.
  function send(type, page, more) {
    var data = script.dataset, kept, to
    try {
      if (localStorage.dateline_optout) return
    } catch (blocked) {}
    if (nav.globalPrivacyControl || nav.doNotTrack == 1) return
    function cookie() {
      return (kept = /\b_dl=(\w+)/.exec(doc.cookie))
    }
    // Where cookies are blocked, no visitor is sent.
    if (data.cookie != null && !cookie()) {
      doc.cookie = '_dl=' + random() + Date.now() + ';path=/;max-age=31536000;samesite=lax'
      cookie()
    }
    to = new URL(type == 'heartbeat' ? type : type ? 'event' : 'view', script.src)
    page = JSON.stringify(Object.assign({
      site: data.site,
      type: type,
      page: page || data.page,
      url: place.href.slice(0, 3e3),
      referrer: type ? '' : from.slice(0, 3e3),
      visitor: kept ? kept[1] : '',
      user: data.user,
      webdriver: nav.webdriver,
    }, more))
    if (!type) from = ''
    if (!nav.sendBeacon || !nav.sendBeacon(to, page)) fetch(to, { method: 'POST', body: page, keepalive: true, mode: 'no-cors' })
  }

  function random() {
    return Math.random().toString(36).slice(2)
  }

  // Adds the time since the last call in which the page was visible and focused
  // and the reader active. If the computer slept, at most 15 s of it count.
  function tick() {
    var now = performance.now(), all = doc.querySelectorAll(script.dataset.article || 'article'), box
    if (on) total += Math.max(0, Math.min(now, idle) - mark)
    mark = now
    on = !doc.hidden && doc.hasFocus()
    // How much of the article, or of a page without exactly one, has been in view. A
    // single-page app shows the previous page for a moment.
    box = (all.length == 1 ? all[0] : doc.documentElement).getBoundingClientRect()
    if (on && now > start + 1e3) depth = Math.max(depth, Math.min(100, Math.round((innerHeight - box.top) / box.height * 100)) || 0)
  }

  // Input makes the reader active for 15 s. Playing media causes timeupdate.
  function input() {
    tick()
    idle = mark + 15e3
  }

  // Sends the totals of the view if they have grown or the page is hidden. A lost
  // or repeated heartbeat is harmless.
  function heartbeat(hidden) {
    tick()
    if (id && (total + depth > sent || hidden && !gone))
      send('heartbeat', name, { url: url, view: id, engaged: Math.round(total), scroll: depth, hidden: !!(gone = hidden) })
    sent = total + depth
  }

  // After 5, 15, 30 and 60 s, then every 60 s.
  function schedule() {
    timer = setTimeout(function () {
      heartbeat()
      schedule()
    }, [5, 10, 15, 30][step++] * 1e3 || 6e4)
  }

  // A page that is not visible yet, prerendered or in another tab, is sent later. A
  // prerendered one is visible a moment before its requests are those of a reader.
  function view() {
    if (!doc.hidden && !(doc.prerendering && setTimeout(view, 50)) && last != (last = place.pathname + place.search)) {
      heartbeat(1)
      on = 0
      input()
      start = mark
      id = random()
      url = place.href.slice(0, 3e3)
      name = script.dataset.page
      total = depth = sent = step = gone = 0
      clearTimeout(timer)
      schedule()
      send(undefined, name, { view: id })
    }
  }

  doc.addEventListener('visibilitychange', function () {
    input()
    doc.hidden ? heartbeat(1) : view()
  })
  addEventListener('pagehide', heartbeat) // the event is true
  addEventListener('popstate', view)
  addEventListener('pageshow', function (event) {
    // The page was restored from the back-forward cache without being loaded.
    if (event.persisted) {
      last = 0
      view()
    }
  })
  // None of them can be canceled or delays scrolling, unlike wheel and touchmove.
  'scroll pointermove pointerdown keydown timeupdate focus blur'.split(' ').forEach(function (type) {
    addEventListener(type, input, true)
  })
  push = history.pushState
  history.pushState = function () {
    push.apply(this, arguments)
    view()
  }
  doc.addEventListener('click', function (event) {
    event = event.target.closest('[data-dateline]')
    if (event) send(event.dataset.dateline || 'click')
  })
  window.dateline = function (type, page, properties) {
    send(type, page, { properties: properties })
  }
  view()
})(document.currentScript, navigator, location, document.referrer, document)
