// The tracker. Pages load it as follows; see docs/reference/tracker.md:
//   <script defer src="https://dateline.example/v1/d.js" data-site="dlw_…"></script>
// It is served minified; a test limits it to 700 bytes of gzip.
(function (script, nav, place, from, last, push) {
  // No type: a view.
  function send(type, page) {
    var data = script.dataset, kept, url
    try {
      if (localStorage.dateline_optout) return
    } catch (blocked) {}
    if (nav.globalPrivacyControl || nav.doNotTrack == 1) return
    function cookie() {
      return (kept = /\b_dl=(\w+)/.exec(document.cookie))
    }
    // Where cookies are blocked, no visitor is sent.
    if (data.cookie != null && !cookie()) {
      document.cookie = '_dl=' + Math.random().toString(36).slice(2) + Date.now() + ';path=/;max-age=31536000;samesite=lax'
      cookie()
    }
    url = new URL(type ? 'event' : 'view', script.src)
    page = JSON.stringify({
      site: data.site,
      type: type,
      page: page || data.page,
      url: place.href.slice(0, 3e3),
      referrer: type ? '' : from.slice(0, 3e3),
      visitor: kept ? kept[1] : '',
      user: data.user,
      webdriver: nav.webdriver,
    })
    if (!type) from = ''
    if (!nav.sendBeacon || !nav.sendBeacon(url, page)) fetch(url, { method: 'POST', body: page, keepalive: true, mode: 'no-cors' })
  }

  // A page that is not visible yet, prerendered or in another tab, is sent later.
  function view() {
    if (document.visibilityState == 'visible' && last != (last = place.pathname + place.search)) send()
  }

  document.addEventListener('visibilitychange', view)
  addEventListener('popstate', view)
  addEventListener('pageshow', function (event) {
    // The page was restored from the back-forward cache without being loaded.
    if (event.persisted) {
      last = 0
      view()
    }
  })
  push = history.pushState
  history.pushState = function () {
    push.apply(this, arguments)
    view()
  }
  document.addEventListener('click', function (event) {
    event = event.target.closest('[data-dateline]')
    if (event) send(event.dataset.dateline || 'click')
  })
  window.dateline = send
  view()
})(document.currentScript, navigator, location, document.referrer)
