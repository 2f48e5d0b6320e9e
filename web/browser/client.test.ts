import { createECDH, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createDatelineClient,
  DatelineError,
  idempotencyKey,
  ifVersion,
  unwrap,
} from '../../client/typescript/dist/index.js'
import { Dashboard, Dateline, shoot, startBrowser, until } from './harness'
import { Receiver } from './receiver'

const d = new Dateline()
const receiver = new Receiver()
let browser: Browser
let dashboard: Dashboard

beforeAll(async () => {
  await receiver.listen()
  await d.prepare({ DATELINE_ALLOW_PRIVATE_HOSTS: new URL(receiver.address).host })
  await d.start()
  browser = await startBrowser()
  dashboard = await Dashboard.open(browser, d)
  await dashboard.login(d.login)
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
  receiver.close()
})

const client = (token = d.token) => createDatelineClient({ url: `${d.api}/`, token })

test('the TypeScript client schedules, edits and cancels a post', async () => {
  const dateline = client()
  const header = idempotencyKey()
  const body = { content: 'Good morning', scheduled_time: new Date(Date.now() + 3_600_000).toISOString() }
  const post = await unwrap(dateline.POST('/api/v1/posts', { params: { header }, body }))
  const again = await unwrap(dateline.POST('/api/v1/posts', { params: { header }, body }))
  expect([again.id, again.status]).toEqual([post.id, 'scheduled'])
  const path = { id: post.id }
  const edited = await unwrap(
    dateline.PATCH('/api/v1/posts/{id}', {
      params: { path, header: ifVersion(post.version) },
      body: { content: 'Good evening' },
    }),
  )
  expect(edited.content).toBe('Good evening')
  const stale = await unwrap(
    dateline.PATCH('/api/v1/posts/{id}', {
      params: { path, header: ifVersion(post.version) },
      body: { content: 'Good night' },
    }),
  ).catch((e: unknown) => e)
  expect(stale).toBeInstanceOf(DatelineError)
  expect((stale as DatelineError).status).toBe(412)
  const { posts } = await unwrap(
    dateline.GET('/api/v1/posts', { params: { query: { status: ['scheduled', 'failed'], limit: 10 } } }),
  )
  expect(posts.map((p) => p.id)).toContain(post.id)
  await unwrap(dateline.DELETE('/api/v1/posts/{id}', { params: { path, header: ifVersion(edited.version) } }))
})

test('the TypeScript client reports problems', async () => {
  const problem = (await unwrap(
    client().POST('/api/v1/posts', { body: { content: 'Late', scheduled_time: 'yesterday-ish' } }),
  ).catch((e: unknown) => e)) as DatelineError
  expect([problem.status, problem.code, problem.fields[0]?.field]).toEqual([422, 'invalid_request', 'scheduled_time'])
  const refused = (await unwrap(client('dl_wrong').GET('/api/v1/me')).catch((e: unknown) => e)) as DatelineError
  expect([refused.status, refused.code]).toEqual([401, 'token_invalid'])
})

test('the library of Standard Webhooks verifies a delivery', async () => {
  const dateline = client()
  const { webhook, secret } = await unwrap(dateline.POST('/api/v1/webhooks', { body: { url: receiver.address } }))
  await unwrap(dateline.POST('/api/v1/webhooks/{id}/test', { params: { path: { id: webhook.id } } }))
  await until('the delivery', () => receiver.raw.some((r) => r.headers['webhook-id']))
  const got = receiver.raw.find((r) => r.headers['webhook-id'])
  expect(new Webhook(secret).verify(got?.body ?? '', got?.headers ?? {})).toMatchObject({ type: 'webhook.test' })
  expect(() => new Webhook(secret).verify(`${got?.body} `, got?.headers ?? {})).toThrow()
  await unwrap(dateline.DELETE('/api/v1/webhooks/{id}', { params: { path: { id: webhook.id } } }))
})

test('a member adds, tests, changes and removes a notification channel', async () => {
  const { page } = dashboard
  await dashboard.go('/system?tab=notifications')
  await page.getByText('No notification channels').waitFor()
  await page.getByRole('button', { name: 'Add channel' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Send by').first().click()
  await page.getByRole('option', { name: 'Any server (JSON)' }).click()
  await dialog.getByLabel('Name').fill('Newsroom bot')
  await dialog.getByLabel('URL').fill(receiver.address)
  await dialog.getByLabel('Token').fill('own-secret')
  await dialog.getByLabel('Quiet from: hour').fill('22')
  await dialog.getByLabel('Quiet from: minute').fill('00')
  await dialog.getByLabel('until: hour').fill('07')
  await dialog.getByLabel('until: minute').fill('00')
  await dashboard.accessible('a notification channel')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const card = page.getByRole('article', { name: 'Newsroom bot' })
  await card.getByText('quiet 22:00 to 07:00').waitFor()
  await card.getByRole('button', { name: 'Send a test' }).click()
  await until('the notification', () =>
    receiver.raw.some((r) => r.headers.authorization === 'Bearer own-secret' && r.body.includes('Test notification')),
  )
  await page.locator('[data-outcome=delivered]').waitFor()
  await card.getByRole('button', { name: 'Edit' }).click()
  await dialog.getByLabel('Name').fill('Night desk')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('article', { name: 'Night desk' }).waitFor()
  await dashboard.accessible('notification channels')
  await page.getByRole('button', { name: 'Remove Night desk' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No notification channels').waitFor()
  dashboard.fine()
})

test('an uncertain post is decided from a notification, in Vietnamese', async () => {
  const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
  const channel = await api<{ id: string }>('POST', '/notification-channels', {
    kind: 'webhook',
    name: 'Trực đêm',
    url: receiver.address,
    types: ['post.uncertain'],
    time_zone: 'Asia/Ho_Chi_Minh',
    language: 'vi',
  })
  const { networks } = await api<{ networks: { name: string; sandbox_values?: Record<string, string> }[] }>(
    'GET',
    '/networks',
  )
  await api('POST', '/accounts/form', {
    network: 'telegram',
    sandbox: true,
    values: networks.find((n) => n.name === 'telegram')?.sandbox_values ?? {},
  })
  const telegram = (await api<{ accounts: { id: string; network: string }[] }>('GET', '/accounts')).accounts.find(
    (a) => a.network === 'telegram',
  )
  await d.faults({ kind: 'act_then_reset', method: 'POST', path: '/telegram/bot' })
  const post = await api<{ id: string }>('POST', '/posts', {
    content: 'Bão số 9 đổi hướng',
    accounts: [telegram?.id],
    scheduled_time: new Date(Date.now() + 2000).toISOString(),
  })
  const message = () => receiver.raw.map((r) => r.body).find((body) => body.includes('Cần kiểm tra'))
  await until('the notification', () => message() !== undefined, 120_000)
  await d.faults()
  const text = message() ?? ''
  expect(text).toMatch(/gửi lúc \d\d:\d\d, \d\d\/\d\d\/\d{4}/)
  expect(text).toContain('Kết quả: Bot không xem được danh sách tin đã gửi. Hãy kiểm tra kênh và quyết định.')

  const link = new URL(/https?:\/\/[^\s"\\]+choice=published/.exec(text)?.[0] ?? '')
  const visitor = await Dashboard.open(browser, d, { locale: 'vi-VN' })
  await visitor.page.goto(d.api + link.pathname + link.search)
  await visitor.page
    .getByText('Kết quả: Bot không xem được danh sách tin đã gửi. Hãy kiểm tra kênh và quyết định.')
    .waitFor()
  await visitor.page.getByText(/gửi lúc \d\d:\d\d, \d\d\/\d\d\/\d{4} \+07/).waitFor()
  await visitor.accessible('a decision in Vietnamese')
  await shoot(visitor, 'decision-vi')
  await visitor.page.getByLabel('Địa chỉ bài viết').fill('https://t.me/desk/1')
  await visitor.page.getByRole('button', { name: 'Bài đã được đăng' }).click()
  await visitor.page.getByText('Đã ghi nhận bài được đăng.').waitFor()
  await until(
    'the decision',
    async () => (await api<{ status: string }>('GET', `/posts/${post.id}`)).status === 'posted',
  )
  visitor.fine()
  await visitor.close()
  await api('DELETE', `/notification-channels/${channel.id}`)
})

test('a browser subscribes and shows notifications', async () => {
  const { page } = dashboard
  const context = page.context()
  await context.grantPermissions(['notifications'], { origin: new URL(d.api).origin })
  await dashboard.go('/system?tab=notifications')
  // Browsers subscribe at a server of their maker, which tests cannot reach: the receiver takes its place.
  const browserKeys = createECDH('prime256v1')
  const p256dh = browserKeys.generateKeys('base64url')
  await page.evaluate(
    (subscription) => {
      PushManager.prototype.subscribe = async () => ({ toJSON: () => subscription }) as unknown as PushSubscription
    },
    { endpoint: `${receiver.address}push`, keys: { p256dh, auth: randomBytes(16).toString('base64url') } },
  )
  await page.getByRole('button', { name: 'Add channel' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Send by').first().click()
  await page.getByRole('option', { name: 'This browser' }).click()
  await dialog.getByLabel('Name').fill('My laptop')
  await dashboard.accessible('a channel in the browser')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const card = page.getByRole('article', { name: 'My laptop' })
  await card.getByRole('button', { name: 'Send a test' }).click()
  await until('the push', () =>
    receiver.raw.some(
      (r) => r.headers['content-encoding'] === 'aes128gcm' && r.headers.authorization?.startsWith('vapid t='),
    ),
  )

  const cdp = await context.newCDPSession(page)
  const registered = new Promise<string>((done) => {
    cdp.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      const active = versions.find((v) => v.status === 'activated' && v.scriptURL.endsWith('/app/push.js'))
      if (active) done(active.registrationId)
    })
  })
  await cdp.send('ServiceWorker.enable')
  const message = {
    id: 'n-1',
    title: 'Not published on @desk',
    body: 'Post: Giá vàng',
    url: `${d.api}/app/posts/1`,
    actions: [{ title: 'Published', url: `${d.api}/app/posts/2` }],
  }
  const push = { origin: `${new URL(d.api).origin}/`, registrationId: await registered, data: JSON.stringify(message) }
  await until('the notification', async () => {
    // The browser may drop a push while it starts or stops the worker; a repeated one replaces the first.
    await cdp.send('ServiceWorker.deliverPushMessage', push)
    const shown = await page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration()
      return (await registration?.getNotifications())?.map((n) => [n.title, n.body, n.tag])
    })
    expect(shown).toEqual([[message.title, message.body, message.id]])
    return true
  })
  await page.getByRole('button', { name: 'Remove My laptop' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No notification channels').waitFor()
  dashboard.fine()
})

test('the documentation is served with search, and works without other servers', async () => {
  const { page } = dashboard
  await dashboard.go('/system')
  const [opened] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Documentation' }).click(),
  ])
  await opened.close()
  await page.goto(`${d.api}/docs/`)
  await page.getByRole('heading', { name: 'Documentation', level: 1 }).waitFor()
  await page.getByRole('searchbox', { name: 'Search' }).fill('quiet hours')
  const found = page.getByRole('navigation', { name: 'Search results' }).getByRole('link', { name: 'Get notified' })
  await found.waitFor()
  await dashboard.accessible('the documentation')
  await found.click()
  await page.getByRole('heading', { name: 'Get notified', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'webhooks' }).first().click()
  await page.getByRole('heading', { name: 'Receive webhooks', level: 1 }).waitFor()
  await dashboard.accessible('a page of the documentation')
  dashboard.fine()
})
