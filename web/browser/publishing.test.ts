import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser, Locator } from 'playwright-core'
import { Dateline, Dashboard, sample, shoot, startBrowser, until } from './harness'
import { lookAt, looks, scrollsFar } from './looks'

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard

beforeAll(async () => {
  await d.prepare()
  await d.start()
  browser = await startBrowser()
  dashboard = await Dashboard.open(browser, d)
  await dashboard.login(d.login)
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
})

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && dashboard) await shoot(dashboard, `failed ${task.name.slice(0, 40)}`)
})

/** A local time of the workspace, some seconds ahead, in the format of its field. */
const ahead = (seconds: number) => new Date(Date.now() + seconds * 1000 + 7 * 3_600_000).toISOString().slice(0, 16)

test('a new user connects a sandbox account', async () => {
  const { page } = dashboard
  await page.getByRole('link', { name: 'Accounts' }).click()
  await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor()
  await dashboard.accessible('accounts')
  await page.getByRole('button', { name: 'Connect an account' }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^X/ }).click()
  await page.getByRole('switch', { name: /Use the sandbox/ }).waitFor()
  await dashboard.accessible('connecting an account')
  await page.getByRole('button', { name: 'Continue to authorize' }).click()
  await page
    .getByRole('button', { name: /allow|authori[sz]e/i })
    .first()
    .click()
  await page.waitForURL(/\/app\/accounts$/)
  await page.locator('[data-account=x]').waitFor()
  dashboard.fine()
})

test('and composes a post with an image, which is saved as it is typed, previewed and counted', async () => {
  const { page } = dashboard
  await page.getByRole('link', { name: 'New post' }).first().click()
  await page
    .getByRole('textbox', { name: 'Text', exact: true })
    .fill('Chào buổi sáng! <img src=x onerror=alert(1)> https://example.com/a/very/long/address')
  await page.locator('[data-saving=clean]').waitFor()
  await page.waitForURL(/compose\?id=/)
  await page.locator('input[type=file]').setInputFiles(sample())
  await page.getByRole('textbox', { name: 'Description' }).fill('Hills at sunrise')
  await page
    .getByText(/\d+ \/ 500/)
    .first()
    .waitFor()
  await page.getByRole('group', { name: 'Publish to' }).getByText('@desk', { exact: true }).click()
  await page
    .getByText(/\d+ \/ 280/)
    .first()
    .waitFor()
  await page.locator('[data-switch=x]').click()
  await page.locator('[data-preview=x] [data-span=link]').waitFor()
  await page.locator('[data-switch=mastodon]').click()
  const preview = page.locator('[data-preview=mastodon]')
  await preview.getByText('<img src=x onerror=alert(1)>').waitFor()
  await preview.getByRole('img', { name: 'Hills at sunrise' }).waitFor()
  const whole = await page.locator('[data-media]').getAttribute('data-media')
  await page.getByRole('button', { name: 'Crop morning.png' }).click()
  await page.getByRole('button', { name: 'Use this crop' }).waitFor()
  await dashboard.accessible('cropping')
  await page.getByRole('dialog').getByRole('button', { name: 'Use this crop' }).click()
  await until(
    'the cut to take its place',
    async () => (await page.locator('[data-media]').getAttribute('data-media')) !== whole,
  )
  expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('Hills at sunrise')
  await page.locator('[data-saving=clean]').waitFor()
  await dashboard.accessible('composer')
  await shoot(dashboard, 'compose')
  dashboard.fine()
})

test('and schedules it, and sees live that it is published', async () => {
  const { page } = dashboard
  await page.getByLabel('Date and time').fill(ahead(75))
  await page.getByRole('button', { name: 'Schedule', exact: true }).click()
  await page.waitForURL(/\/posts\//)
  await page.locator('[data-status=scheduled]').first().waitFor()
  // No input from now on: the page updates live.
  await page.locator('main [data-status=posted]').first().waitFor({ timeout: 110_000 })
  await page.locator('[data-event=posted]').first().waitFor()
  await page
    .getByText(/\b(ms|seconds?) late/)
    .first()
    .waitFor()
  expect(await page.locator('main img[src=x]').count()).toBe(0)
  expect(await page.locator('[data-target]').count()).toBe(2)
  const shown = await (await fetch(`${d.sandbox}/__state/posts`)).text()
  expect(shown).toContain('Hills at sunrise')
  await dashboard.accessible('post')
  await shoot(dashboard, 'post')
  dashboard.fine()
})

interface Post {
  id: string
  status: string
  scheduled_time: string
  version: number
}

const api = <T = Post>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)

/** An instant at a time of day in the workspace's zone, some days ahead. */
const day = (days: number, clock: string) =>
  `${new Date(Date.now() + days * 86_400_000 + 7 * 3_600_000).toISOString().slice(0, 10)}T${clock}:00+07:00`

test('a post is dragged to another day, and one that is too late shows the reason and stays', async () => {
  const { page } = dashboard
  const post = await api('POST', '/posts', { content: 'Drag me to another day', scheduled_time: day(2, '10:00') })
  // The calendar that opens on the second day shows both as days of one week.
  await dashboard.go(`/calendar?view=month&date=${day(2, '10:00').slice(0, 10)}`)
  const card = page.locator(`[data-post="${post.id}"]`)
  await card.waitFor()
  const target = day(1, '10:00').slice(0, 10)
  // During the drag another post is added before it.
  await page.locator(`[data-day="${target}"]`).scrollIntoViewIfNeeded() // beside it, in the same week or the one above
  await card.hover()
  const from = (await card.boundingBox())!
  await page.mouse.move(from.x + 10, from.y + 5)
  await page.mouse.down()
  await page.mouse.move(from.x + 30, from.y + 15, { steps: 4 })
  const other = await api('POST', '/posts', { content: 'A post during a drag', scheduled_time: day(2, '09:00') })
  await page.waitForTimeout(2000)
  const to = (await page.locator(`[data-day="${target}"]`).boundingBox())!
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 4 })
  await page.mouse.up()
  await until('the post to be moved', async () =>
    (await api('GET', `/posts/${post.id}`)).scheduled_time.startsWith(target),
  )
  await page.locator(`[data-post="${other.id}"]`).waitFor()
  const moved = await api('GET', `/posts/${post.id}`)
  expect(new Date(moved.scheduled_time).toISOString()).toBe(new Date(day(1, '10:00')).toISOString())
  await page.getByText('Post rescheduled.').first().waitFor()

  // Another user publishes it while this editor's page is not connected.
  await page.route('**/api/v1/events', (route) => route.abort())
  await page.route('**/api/v1/posts?*', (route) => route.abort())
  await api('POST', `/posts/${post.id}/publish-now`)
  await until('it to be out', async () => (await api('GET', `/posts/${post.id}`)).status === 'posted')
  await drag(page.locator(`[data-post="${post.id}"]`), day(2, '10:00').slice(0, 10))
  await page
    .getByText(/can no longer be changed|meantime/)
    .first()
    .waitFor()
  await page.unroute('**/api/v1/events')
  await page.unroute('**/api/v1/posts?*')
  dashboard.fine()
})

/** Drags with HTML's drag-and-drop events, which the calendar handles. */
async function drag(card: Locator, date: string): Promise<void> {
  const to = dashboard.page.locator(`[data-day="${date}"]`)
  await card.dragTo(to)
}

test('without a mouse a post is moved through its dialog', async () => {
  const { page } = dashboard
  const post = await api('POST', '/posts', { content: 'Move me by keyboard', scheduled_time: day(1, '09:00') })
  await dashboard.go(`/calendar?view=day&date=${day(1, '09:00').slice(0, 10)}`)
  const card = page.locator(`button:has([data-post="${post.id}"])`)
  await card.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/Reschedule to/).fill(`${day(1, '09:00').slice(0, 10)}T15:30`)
  await dialog.getByRole('button', { name: 'Reschedule' }).click()
  await until(
    'the post to be moved',
    async () =>
      new Date((await api('GET', `/posts/${post.id}`)).scheduled_time).getTime() ===
      new Date(day(1, '15:30')).getTime(),
  )
  dashboard.fine()
})

test('a dead letter appears live, is opened and retried', async () => {
  const { page } = dashboard
  await dashboard.go('/dead-letters')
  await page.getByText('Nothing needs attention').waitFor()
  await dashboard.live()
  await d.faults({
    kind: 'status',
    status: 422,
    method: 'POST',
    path: '/api/v1/statuses',
    body: '{"error":"Validation failed: <b>no</b>"}',
  })
  const post = await api('POST', '/posts', {
    content: 'Refused at first',
    scheduled_time: new Date(Date.now() + 3000).toISOString(),
  })
  await page.locator(`[data-dead="${post.id}"]`).waitFor({ timeout: 60_000 })
  await page.getByText('<b>no</b>').first().waitFor()
  await dashboard.accessible('dead letters')
  await shoot(dashboard, 'dead-letters')
  await page.locator('[data-reason=rejected]').click()
  await page.getByRole('button', { name: 'Retry selected' }).click()
  await page.getByText('1 post will be retried now.').waitFor()
  expect((await api('GET', `/posts/${post.id}`)).status).toBe('failed')
  await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click()
  await until('it to be out', async () => (await api('GET', `/posts/${post.id}`)).status === 'posted')
  await page.locator(`[data-dead="${post.id}"]`).waitFor({ state: 'detached' })
  dashboard.fine()
})

test('pages stay live through a restart of the program', async () => {
  const { page } = dashboard
  const post = await api('POST', '/posts', { content: 'I outlive a restart', scheduled_time: day(3, '10:00') })
  await dashboard.go(`/posts/${post.id}`)
  await page.locator('main [data-status=scheduled]').first().waitFor()
  await dashboard.live()
  await d.stop()
  await page.locator('[data-live=broken]').waitFor()
  await shoot(dashboard, 'reconnecting')
  await d.start()
  await dashboard.live()
  await api('DELETE', `/posts/${post.id}`)
  await page.locator('main [data-status=canceled]').first().waitFor()
  dashboard.fine()
})

test('the language can be switched to Vietnamese, and is remembered', async () => {
  const { page } = dashboard
  // The menu is used before its code has arrived.
  const code = /Menus-[^/]*[.]js/
  await page.route(code, async (route) => {
    await page.waitForTimeout(1000)
    await route.continue()
  })
  await dashboard.go('/calendar')
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('menuitem', { name: 'Tiếng Việt' }).click()
  await page.unroute(code)
  await page.getByRole('heading', { name: 'Lịch', level: 1 }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('vi')
  await page.reload()
  await page.getByRole('heading', { name: 'Lịch', level: 1 }).waitFor()
  for (const [path, heading] of [
    ['/compose', 'Bài viết mới'],
    ['/dead-letters', 'Cần xử lý'],
    ['/accounts', 'Tài khoản'],
    ['/media', 'Thư viện'],
  ] as const) {
    await dashboard.go(path)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  }
  await shoot(dashboard, 'media-vi')
  await page.evaluate(() => localStorage.setItem('dateline-language', 'en'))
  dashboard.fine()
})

test('a viewer is not offered actions that are not allowed', async () => {
  const { page } = dashboard
  const post = await api('POST', '/posts', { content: 'For looking only', scheduled_time: day(3, '11:00') })
  d.sql("update members set role = 'viewer'")
  try {
    await dashboard.go(`/posts/${post.id}`)
    await page.getByText('For looking only').first().waitFor()
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'New post' }).count()).toBe(0)
    await dashboard.go('/accounts')
    await page.locator('[data-account=mastodon]').waitFor()
    expect(await page.getByRole('button', { name: /Connect|More for/ }).count()).toBe(0)
    await dashboard.go('/compose')
    await page.getByText('Your role does not allow this').waitFor()
    d.sql("update members set role = 'author'")
    await dashboard.go(`/posts/${post.id}`)
    await page.getByRole('link', { name: 'Edit' }).waitFor()
    await dashboard.go('/accounts')
    await page.locator('[data-account=mastodon]').waitFor()
    expect(await page.getByRole('button', { name: /Connect an account/ }).count()).toBe(0)
  } finally {
    d.sql("update members set role = 'owner'")
  }
  dashboard.fine()
})

test('a site is added, and a view of it appears live', async () => {
  const { page } = dashboard
  await dashboard.go('/readers')
  await page.getByRole('button', { name: 'Add a site' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Tin tức')
  await dialog.getByRole('checkbox', { name: /Make view counts public/ }).check()
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText(/data-site="dlw_/).waitFor()
  const key = /data-site="(dlw_[^"]+)"/.exec((await dialog.textContent()) ?? '')?.[1]
  await dashboard.accessible('a new site')
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('tab', { name: 'Live and trending' }).click()
  await page.locator('[data-stream=live]').waitFor()
  await view(key, '/bai-viet', '203.0.113.7')
  const row = page.locator('[data-stream] [data-page="/bai-viet"]')
  await row.waitFor()
  await row.click()
  await page.locator('[data-figure=views]', { hasText: '1' }).waitFor()
  await view(key, '/bai-viet', '203.0.113.8')
  await page.locator('[data-figure=views]', { hasText: '2' }).waitFor()
  await dashboard.accessible('readers')
  await shoot(dashboard, 'readers')
  dashboard.fine()
})

/** A view like a browser's; each user agent is another reader. */
async function view(site: string | undefined, name: string, agent: string): Promise<void> {
  const answer = await fetch(`${d.api}/v1/view`, {
    method: 'POST',
    body: JSON.stringify({ site, page: name }),
    headers: {
      'Content-Type': 'application/json',
      'Accept-Language': 'vi',
      'User-Agent': `Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0 ${agent}`,
    },
  })
  expect(answer.status).toBe(202)
}

test('the owner creates a token, which is shown once and works, and the audit log records it', async () => {
  const { page } = dashboard
  await dashboard.go('/system')
  await page.locator('[data-check=database][data-healthy=true]').waitFor()
  await page.getByRole('tab', { name: 'API tokens' }).click()
  await page.getByLabel('Purpose').fill('Sheet import')
  await page.getByLabel('Permissions').first().click()
  await page.getByRole('option', { name: 'posts:read' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Create token' }).click()
  const secret = await page.locator('pre', { hasText: /^dl_/ }).textContent()
  await d.send('GET', '/api/v1/posts', undefined, secret ?? '')
  await dashboard.accessible('tokens')
  const shown = {
    Members: page.locator('[data-member]'),
    Webhooks: page.getByText('No webhooks'),
    'Audit log': page.getByText('created the API token'),
  }
  for (const [tab, sign] of Object.entries(shown)) {
    await page.getByRole('tab', { name: tab }).click()
    await sign.first().waitFor()
    await dashboard.accessible(tab)
  }
  dashboard.fine()
})

const pages = {
  'calendar-month': `/calendar?view=month`,
  'calendar-week': `/calendar?view=week`,
  'calendar-day': `/calendar?view=day`,
  'calendar-list': '/calendar?view=list',
  compose: '/compose',
  'dead-letters': '/dead-letters',
  accounts: '/accounts',
  media: '/media',
  readers: '/readers',
  system: '/system',
}

test.each(looks)(
  'every page is accessible, in %s at %i px',
  async (...look) => {
    const { posts } = await api<{ posts: Post[] }>('GET', '/posts?status=posted&limit=1')
    await lookAt(browser, d, look, { ...pages, post: `/posts/${posts[0]?.id}` })
  },
  240_000,
)

test('a list of 100,000 posts scrolls and filters without a stall', async () => {
  const { page } = dashboard
  d.sql(`insert into scheduled_posts (post_id, workspace_id, user_id, content, scheduled_time, time_zone, status)
    select gen_random_uuid(), m.workspace_id, m.user_id, 'Many ' || n, timestamptz '2001-01-01' + n * interval '1 hour', 'UTC', 'canceled'
    from (select workspace_id, user_id from members limit 1) m, generate_series(1, 100000) n`)
  await dashboard.go('/calendar?view=list&show=past')
  await scrollsFar(page, '[data-post]')
  await page.getByLabel('Status').first().click()
  await page.getByRole('option', { name: 'Canceled' }).click()
  await page.locator('[data-post] [data-status=canceled]').first().waitFor()
  dashboard.fine()
}, 240_000)
