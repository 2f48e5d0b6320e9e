// The service worker that shows notifications of Dateline in this browser. It handles
// nothing else: pages are never cached.
self.addEventListener('push', (event) => {
  const message = event.data.json()
  event.waitUntil(
    self.registration.showNotification(message.title, {
      body: message.body,
      tag: message.id, // a repeated message replaces the first
      data: { url: message.url, actions: (message.actions ?? []).map((a) => a.url) },
      actions: (message.actions ?? []).map((a, i) => ({ action: String(i), title: a.title })),
    }),
  )
})

self.addEventListener('notificationclick', (event) => {
  const { url, actions } = event.notification.data
  event.notification.close()
  event.waitUntil(self.clients.openWindow(event.action === '' ? url : actions[Number(event.action)]))
})
