import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { noise } from './files'
import { Dateline, Dashboard, sample, shoot, startBrowser, until } from './harness'
import { lookAt, looks } from './looks'
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

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && dashboard) await shoot(dashboard, `failed ${task.name.slice(0, 40)}`)
})

interface Post {
  id: string
  status: string
  content: string
  scheduled_time: string
  series_id?: string
}

const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const posts = async (query: string) => (await api<{ posts: Post[] }>('GET', `/posts?${query}`)).posts

/** A local time of the workspace, some days ahead, in the format of a field. */
const wall = (days: number, clock: string) =>
  `${new Date(Date.now() + days * 86_400_000 + 7 * 3_600_000).toISOString().slice(0, 10)}T${clock}`

test('a post becomes a series, which skips an occurrence, is paused and ended', async () => {
  const { page } = dashboard
  await dashboard.go('/series')
  await page.getByText('No recurring posts yet').waitFor()
  await page.getByRole('link', { name: 'New recurring post' }).click()
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Thời tiết hôm nay')
  await page.locator('[data-saving=clean]').waitFor()
  await page.getByLabel('First date and time').fill(wall(1, '07:00'))
  await page.getByLabel('How often').selectOption('DAILY')
  await page.getByLabel('Ends').selectOption('count')
  await page.getByLabel('Times').fill('60')
  await page.locator('[data-rule="FREQ=DAILY;COUNT=60"]').getByText('Every day, 60 times').waitFor()
  await dashboard.accessible('the rule of a series')
  await shoot(dashboard, 'compose-repeat')
  await page.getByRole('button', { name: 'Start series' }).click()
  await page.waitForURL(/\/series/)
  await page.locator('[data-series] [data-status=active]').waitFor()
  // The draft has become the series, which has created its posts.
  await until(
    'the posts of the series',
    async () => (await posts('status=scheduled&limit=200')).length > 30 && (await posts('status=draft')).length === 0,
  )
  const made = await posts('status=scheduled&limit=200')
  expect(made.every((p) => p.series_id && p.content === 'Thời tiết hôm nay')).toBe(true)

  const second = page.locator('[data-occurrence]').nth(1)
  await second.getByRole('button', { name: 'Skip' }).click()
  await page.locator('[data-occurrence][data-state=skipped]').waitFor()
  await until(
    'the post to be canceled',
    async () => (await posts('status=scheduled&limit=200')).length === made.length - 1,
  )
  await dashboard.accessible('series')
  await shoot(dashboard, 'series')
  await second.getByRole('button', { name: 'Restore' }).click()
  await until('the post to be back', async () => (await posts('status=scheduled&limit=200')).length === made.length)

  // The calendar also shows occurrences without a post: six weeks ahead.
  await dashboard.go(`/calendar?view=day&date=${wall(45, '07:00').slice(0, 10)}`)
  const planned = page.locator('button:has([data-planned])')
  await planned.click()
  await page.getByRole('dialog').getByText('Every day, 60 times').waitFor()
  await dashboard.go(`/calendar?view=day&date=${wall(3, '07:00').slice(0, 10)}`)
  await page.locator('[data-post] [aria-label="Part of a series"]').waitFor()
  expect(await page.locator('[data-planned]').count()).toBe(0)

  await dashboard.go('/series')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Text', exact: true }).fill('Thời tiết và giao thông')
  await dashboard.accessible('changing a series')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await until('its posts to say the same', async () =>
    (await posts('status=scheduled&limit=200')).every((p) => p.content === 'Thời tiết và giao thông'),
  )
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Pause' }).click()
  await page.locator('[data-series] [data-status=paused]').waitFor()
  await until('its posts to be canceled', async () => (await posts('status=scheduled&limit=200')).length === 0)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Resume' }).click()
  await page.locator('[data-series] [data-status=active]').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'End' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel them' }).click()
  await page.locator('[data-series] [data-status=ended]').waitFor()
  await until('nothing more to come', async () => (await posts('status=scheduled&limit=200')).length === 0)
  dashboard.fine()
})

test('a file of the library is attached, and a large one goes to the bucket', async () => {
  const { page } = dashboard
  await dashboard.go('/media')
  await page.locator('input[type=file]').setInputFiles(sample())
  await page.locator('[data-file="morning.png"]').waitFor()
  await dashboard.go('/compose')
  await page
    .getByRole('textbox', { name: 'Text', exact: true })
    .fill('Xem https://news.example.com/2026/11/22/mot-duong-dan-rat-dai @desk')
  // Buttons change their colors when the preview reports no problem.
  await until('it to be ready', () => page.getByRole('button', { name: 'Publish now' }).isEnabled())
  await page.getByRole('button', { name: 'Choose from library' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Search names and descriptions').fill('morning')
  await dialog.locator('[data-file="morning.png"]').click()
  await dashboard.accessible('the library')
  await shoot(dashboard, 'library')
  await dialog.getByRole('button', { name: 'Attach 1 file' }).click()
  await page.locator('[data-media]').waitFor()
  // Like on Mastodon: a link without its scheme, truncated.
  const link = page.locator('[data-preview=mastodon] a[data-span=link]')
  await link.getByText('news.example.com/2026/11/22/mo…').waitFor()
  expect(await link.getAttribute('href')).toBe('https://news.example.com/2026/11/22/mot-duong-dan-rat-dai')
  await page.locator('[data-preview=mastodon] [data-span=mention]').waitFor()

  const ways: string[] = []
  page.on(
    'request',
    (r) =>
      r.method() !== 'GET' &&
      ways.push(
        `${r.method()} ${new URL(r.url()).host === new URL(d.bucket).host ? 'bucket' : new URL(r.url()).pathname}`,
      ),
  )
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'large.png', mimeType: 'image/png', buffer: noise(1800) })
  await page.locator('[data-media]').nth(1).waitFor({ timeout: 60_000 })
  expect(ways).toContain('PUT bucket')
  expect(ways).not.toContain('POST /api/v1/media')
  await page.locator('[data-saving=clean]').waitFor()
  await page.getByRole('button', { name: 'More options' }).click()
  await page.getByLabel('Discard if late by more than').fill('30')
  await page.getByLabel('Language').fill('vi')
  await page.locator('[data-saving=clean]').waitFor()
  await until('the draft to hold all of it', async () => {
    const [draft] = await posts('status=draft')
    const stored =
      draft &&
      (await api<{ attachments: string[]; drop_if_late_minutes?: number; language?: string }>(
        'GET',
        `/posts/${draft.id}`,
      ))
    return stored?.attachments.length === 2 && stored.drop_if_late_minutes === 30 && stored.language === 'vi'
  })
  await dashboard.accessible('composer with options')
  await page.getByRole('button', { name: 'Discard draft' }).click()
  await page.waitForURL(/\/calendar/)
  dashboard.fine()
})

test('a post that an author submits is pending until an editor approves it', async () => {
  const { page } = dashboard
  d.sql('update workspaces set authors_need_approval = true')
  d.sql("update members set role = 'author'")
  await dashboard.go('/compose')
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('From an author')
  await page.getByLabel('Date and time').fill(wall(2, '10:00'))
  await page.locator('[data-saving=clean]').waitFor()
  expect(await page.getByRole('button', { name: 'Publish now' }).count()).toBe(0)
  await page.keyboard.press('Control+Enter')
  await page.waitForURL(/\/posts\//)
  await page.getByText('The post is scheduled when an editor approves it.').waitFor()
  d.sql("update members set role = 'owner'")
  await dashboard.go('/calendar?view=list')
  await page.getByLabel('Status').first().click()
  await page.getByRole('option', { name: 'Pending approval' }).click()
  await page.keyboard.press('Escape')
  await page.locator('[data-post]', { hasText: 'From an author' }).click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.locator('main [data-status=scheduled]').first().waitFor()
  d.sql('update workspaces set authors_need_approval = false')
  dashboard.fine()
})

test('the week starts at the current time, shows two time zones, and its colors and filters can be chosen', async () => {
  const { page } = dashboard
  const post = await api<Post>('POST', '/posts', {
    content: 'Morning news',
    scheduled_time: `${wall(1, '10:00')}:00+07:00`,
  })
  await dashboard.go('/calendar?view=week')
  await page.locator('[data-calendar=week]').waitFor()
  const hour = Number(new Date(Date.now() + 7 * 3_600_000).toISOString().slice(11, 13))
  const label = page
    .locator('[data-calendar=week]')
    .getByText(`${String(Math.max(hour - 1, 0)).padStart(2, '0')}:00`, { exact: true })
    .first()
  await until('the hour before now to be in sight', async () => {
    const inner = await page.locator('[data-hours]').first().boundingBox()
    const at = await label.boundingBox()
    return inner !== null && at !== null && at.y > inner.y - 40 && at.y < inner.y + inner.height
  })
  await page.getByLabel('Second time zone').first().fill('Paris')
  await page.getByRole('option', { name: 'Europe/Paris' }).click()
  await page
    .locator('[data-calendar=week]')
    .getByText(/^07:00\s0[12]:00$/)
    .first()
    .waitFor()
  await shoot(dashboard, 'calendar-two-zones')
  await page.getByText('Network', { exact: true }).last().click()
  await page.getByRole('list', { name: 'Color legend' }).getByText('Mastodon').waitFor()
  await dashboard.accessible('calendar by network')

  // By keyboard only: list, tomorrow, back to this month.
  await page.locator('h1').click()
  await page.keyboard.press('l')
  await page.getByRole('list', { name: 'Posts' }).waitFor()
  await page.keyboard.press('d')
  await page.locator('[data-calendar=day]').waitFor()
  await page.keyboard.press('t')
  await page.keyboard.press('j')
  await page.locator(`[data-calendar=day] [data-post="${post.id}"]`).waitFor()
  await page.keyboard.press('m')
  await page.locator('[data-calendar=month]').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Week', { exact: true }).waitFor()
  await dashboard.accessible('shortcuts')
  await page.getByRole('switch', { name: 'Use shortcuts' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('l')
  await page.locator('[data-calendar=month]').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('switch', { name: 'Use shortcuts' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.waitForURL(/\/series/)
  await page.evaluate(() => localStorage.removeItem('dateline-zone-second'))
  await page.evaluate(() => localStorage.removeItem('dateline-colors'))
  dashboard.fine()
})

test('after a denied consent the browser returns to the accounts, with the reason', async () => {
  const { page } = dashboard
  await dashboard.go('/accounts')
  await page.getByRole('button', { name: 'Connect an account' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Mastodon/ })
    .click()
  await page.getByRole('switch', { name: /Use the sandbox/ }).waitFor()
  await page.getByRole('button', { name: 'Continue to authorize' }).click()
  await page.getByRole('button', { name: 'Deny' }).first().click()
  await page.waitForURL(/\/app\/accounts\?refused=/)
  await page.getByText('Access was denied on the network. Start again and allow access.').waitFor()
  await dashboard.accessible('a refused connection')
  await shoot(dashboard, 'accounts-refused')
  await page.locator('[data-refused]').getByRole('button', { name: 'Close' }).click()
  await page.locator('[data-refused]').waitFor({ state: 'detached' })
  dashboard.fine()
})

test('the system page shows live what runs, what is pending and what is wrong', async () => {
  const { page } = dashboard
  const soon = await api<Post>('POST', '/posts', {
    content: 'For the lateness',
    scheduled_time: new Date(Date.now() + 2000).toISOString(),
  })
  await until('it to be out', async () => (await api<Post>('GET', `/posts/${soon.id}`)).status === 'posted')
  await dashboard.go('/system')
  for (const engine of ['database', 'redis', 'objects', 'temporal', 'worker', 'clock'])
    await page.locator(`[data-check=${engine}][data-healthy=true]`).waitFor()
  await page.locator('[data-figure=scheduled]', { hasText: /[1-9]/ }).waitFor()
  await page.locator('[data-figure=armed]', { hasText: /\d/ }).waitFor()
  await page.locator('[data-lateness=mastodon]', { hasText: /\d.*ms/ }).waitFor()
  await page.locator('[data-queue="dateline-post activity"]').waitFor()
  await page.locator('[data-queue^=dateline]', { hasText: '≤' }).first().waitFor()
  expect(await page.locator('[data-alert=AccountsNeedReconnect]').count()).toBe(0)
  await dashboard.accessible('system')
  await shoot(dashboard, 'system-state')
  d.sql("update accounts set status = 'needs_reconnect' where network = 'mastodon'")
  await page.locator('[data-alert=AccountsNeedReconnect]').waitFor()
  await dashboard.accessible('an alert')
  await shoot(dashboard, 'system-alert')
  d.sql("update accounts set status = 'connected' where network = 'mastodon'")
  await page.locator('[data-alert=AccountsNeedReconnect]').waitFor({ state: 'detached' })
  dashboard.fine()
})

test('deliveries of a webhook are listed, and dead ones are redelivered', async () => {
  const { page } = dashboard
  await dashboard.go('/system?tab=webhooks')
  await page.getByLabel('Send to').fill(receiver.address)
  await page.getByRole('button', { name: 'Add webhook' }).click()
  const hook = page.getByRole('article', { name: receiver.address })
  await hook.getByRole('button', { name: 'Send a test' }).click()
  await hook.getByRole('button', { name: 'Deliveries' }).click()
  await hook.locator('[data-outcome=delivered]').first().waitFor()
  expect(receiver.got[0]?.type).toBe('webhook.test')
  await hook.getByRole('button', { name: 'Details' }).first().click()
  await hook.getByText('"type": "webhook.test"').waitFor()
  // A 410 disables the endpoint, and the delivery is dead.
  receiver.answer = 410
  await hook.getByRole('button', { name: 'Send a test' }).click()
  await hook.locator('[data-outcome=dead]').first().waitFor()
  await hook.getByText('HTTP 410').first().waitFor()
  await dashboard.accessible('deliveries')
  await shoot(dashboard, 'webhook-deliveries')
  await hook.getByText('Dead', { exact: true }).first().click()
  await hook.locator('[data-outcome=delivered]').first().waitFor({ state: 'detached' })
  receiver.answer = 204
  await page.reload()
  await page.getByText('Disabled: the server responded 410 Gone.').waitFor()
  await hook.getByRole('switch', { name: 'Enabled' }).click()
  await hook.getByRole('button', { name: 'Deliveries' }).click()
  await hook.getByRole('button', { name: 'Retry all dead deliveries' }).click()
  await until('both tests to have arrived', () => receiver.got.length === 2)
  await hook.locator('[data-outcome=dead]').first().waitFor({ state: 'detached' })
  dashboard.fine()
})

test('the audit log is filtered by user, action and time', async () => {
  const { page } = dashboard
  await dashboard.go('/system?tab=audit')
  await page.locator('[data-action="webhook.created"]').waitFor()
  await page.locator('[data-action="login.succeeded"]').first().waitFor()
  await page.getByLabel('Action').first().click()
  await page.getByRole('option', { name: 'created the webhook' }).click()
  await page.locator('[data-action="login.succeeded"]').first().waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await dashboard.accessible('the audit log')
  await page.getByLabel('Until').fill('2020-01-01')
  await page.getByText('Try other members, actions or days.').waitFor()
  await page.getByLabel('Until').fill('')
  await page.getByLabel('Actor').first().click()
  await page.getByRole('option', { name: 'An operator' }).click()
  await page.getByText('Try other members, actions or days.').waitFor()
  dashboard.fine()
})

test('readers of posts and of sites are counted, and bots are filtered', async () => {
  const { page } = dashboard
  const site = await api<{ site: { id: string; write_key: string } }>('POST', '/sites', {
    name: 'Tin tức',
    public_counts: true,
  })
  const view = (agent: string, name = '/bai-viet') =>
    fetch(`${d.api}/v1/view`, {
      method: 'POST',
      body: JSON.stringify({ site: site.site.write_key, page: name }),
      headers: { 'Content-Type': 'application/json', 'Accept-Language': 'vi', 'User-Agent': agent },
    })
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'
  await dashboard.go(`/readers?site=${site.site.id}&page=%2Fbai-viet`)
  await page.locator('[data-stream=live]').waitFor()
  await until('the keys to be known', async () => (await view(firefox)).status === 202)
  await view('Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)')
  await page.locator('[data-figure=views]', { hasText: '1' }).waitFor()
  await page.reload()
  await page.getByText('Search engines').waitFor()
  await page.getByRole('radiogroup', { name: 'Count of', exact: true }).getByText('Clicks').click()
  await page.getByRole('columnheader', { name: 'Clicks' }).waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Tracking code' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Page').fill('/bai-viet')
  await until('the badge to be drawn', async () =>
    dialog
      .getByRole('img', { name: 'Badge' })
      .evaluate((img: HTMLImageElement) => img.complete && img.naturalWidth > 0),
  )
  await dashboard.accessible('snippets')
  await shoot(dashboard, 'readers-snippets')
  await page.keyboard.press('Escape')

  const post = (await posts('status=posted&limit=1'))[0]
  const link = await api<{ short_url: string; code: string }>('POST', '/links', {
    url: 'https://news.example/flood',
    post_id: post?.id,
  })
  await page.getByLabel('Site').first().click()
  await page.getByRole('option', { name: 'Posts and short links' }).click()
  await page.locator('[data-stream=live]').waitFor()
  await page.locator(`[data-page="link/${link.code}"]`).click()
  await fetch(link.short_url, {
    redirect: 'manual',
    headers: { 'User-Agent': firefox, 'Accept-Language': 'vi', Accept: 'text/html' },
  })
  await page.locator('[data-figure=clicks]', { hasText: '1' }).waitFor()
  await dashboard.accessible('readers of posts')
  dashboard.fine()
})

test('the new pages are in Vietnamese, too', async () => {
  const { page } = dashboard
  await page.evaluate(() => localStorage.setItem('dateline-language', 'vi'))
  for (const [path, heading, said] of [
    ['/series', 'Bài viết lặp lại', 'Đã kết thúc'],
    ['/system', 'Hệ thống', 'Đang chờ'],
    ['/compose?repeat=true', 'Bài viết mới', 'Hằng tuần, vào'],
  ] as const) {
    await dashboard.go(path)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await page.getByText(said).first().waitFor()
  }
  await shoot(dashboard, 'compose-repeat-vi')
  await page.evaluate(() => localStorage.setItem('dateline-language', 'en'))
  dashboard.fine()
})

const pages = {
  series: '/series',
  system: '/system',
  'system-webhooks': '/system?tab=webhooks',
  'system-audit': '/system?tab=audit',
  'system-members': '/system?tab=members',
  'compose-repeat': '/compose?repeat=true',
  'calendar-week': '/calendar?view=week',
}

test.each(looks)(
  'these pages are accessible too, in %s at %i px',
  async (...look) => {
    await api('POST', '/series', {
      rule: 'FREQ=WEEKLY;BYDAY=MO,FR',
      starts: wall(1, '18:00'),
      template: { content: `The week in ${look[1]} ${look[0]}` },
    })
    await lookAt(browser, d, look, pages)
  },
  240_000,
)
