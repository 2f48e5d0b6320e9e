import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { Dateline, Dashboard, sample, shoot, startBrowser, until } from './harness'

// What editors do all day: nothing that they type is lost, and every act says what it did.

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard
let mastodon = ''

interface Post {
  id: string
  status: string
  content: string
  version: number
  approval?: { state: string; note?: string }
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const hour = 3_600_000
const inHours = (n: number) => new Date(Date.now() + n * hour).toISOString()
const post = (content: string, more: object = {}) =>
  api<Post>('POST', '/posts', { content, accounts: [mastodon], scheduled_time: inHours(30), ...more })
/** A notification with the text. */
const message = (page: Page, text: string | RegExp) =>
  page.locator('.mantine-Notification-root', { hasText: text }).first().waitFor()

beforeAll(async () => {
  await d.prepare()
  await d.start()
  browser = await startBrowser()
  dashboard = await Dashboard.open(browser, d, { viewport: { width: 1440, height: 900 } })
  await dashboard.login(d.login)
  const { accounts } = await api<{ accounts: { id: string; network: string }[] }>('GET', '/accounts')
  mastodon = accounts.find((a) => a.network === 'mastodon')?.id ?? ''
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
})
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && dashboard) await shoot(dashboard, `failed ${task.name.slice(0, 40)}`)
})

test('posts for approval are announced, previewed and decided one after the other by keyboard', async () => {
  const { page } = dashboard
  const waiting: Post[] = []
  for (const [i, text] of ['Giá vàng tăng', 'Mưa lớn ở Huế', 'Khai mạc SEA Games'].entries()) {
    const draft = await post(text, { draft: true, scheduled_time: inHours(20 + i) })
    waiting.push(await api<Post>('POST', `/posts/${draft.id}/submit`))
  }
  await dashboard.go('/calendar')
  const entry = page.getByRole('link', { name: /^Pending approval/ })
  await until('the count', async () => (await entry.textContent())?.includes('3') ?? false)
  await entry.click()
  await page.locator('[data-approval]').nth(2).waitFor()
  await page.getByRole('heading', { name: 'Giá vàng tăng' }).waitFor()
  await page.locator('[data-submitted]', { hasText: 'Submitted by' }).waitFor()
  await page.locator('[data-preview=mastodon]').getByText('Giá vàng tăng').waitFor()
  await dashboard.accessible('approvals')
  await shoot(dashboard, 'approvals')
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'Mưa lớn ở Huế' }).waitFor()
  await page.keyboard.press('k')
  await page.getByRole('heading', { name: 'Giá vàng tăng' }).waitFor()
  await page.keyboard.press('a')
  await message(page, 'Approved: “Giá vàng tăng”.')
  // The next post takes its place.
  await page.getByRole('heading', { name: 'Mưa lớn ở Huế' }).waitFor()
  await page.keyboard.press('r')
  await page.getByRole('textbox', { name: 'What should be changed?' }).fill('Thiếu nguồn')
  // The note stays with its post.
  await page.getByRole('button', { name: 'Next post' }).click()
  await page.getByRole('heading', { name: 'Khai mạc SEA Games' }).waitFor()
  expect(await page.getByRole('textbox', { name: 'What should be changed?' }).inputValue()).toBe('')
  await page.getByRole('button', { name: 'Previous post' }).click()
  await page.getByRole('textbox', { name: 'What should be changed?' }).press('Control+Enter')
  await message(page, 'Changes requested: “Mưa lớn ở Huế”.')
  const stored = async (i: number) => api<Post>('GET', `/posts/${waiting[i]!.id}`)
  expect((await stored(0)).status).toBe('scheduled')
  expect((await stored(1)).approval).toMatchObject({ state: 'rejected', note: 'Thiếu nguồn' })
  await until('the count', async () => /1$/.test((await entry.textContent()) ?? ''))
  // Who did it stands in the timeline.
  await dashboard.go(`/posts/${waiting[0]!.id}`)
  await page.locator('[data-event=approved] [data-actor]').waitFor()
  await page.locator('[data-event=submitted] [data-actor]').waitFor()
  await dashboard.go(`/posts/${waiting[2]!.id}`)
  await page.locator('[data-target] [data-status=waiting]').waitFor()
  await page.locator('[data-by]', { hasText: 'Submitted by' }).waitFor()
  dashboard.fine()
})

test('a decision that is refused says so, and the post is back', async () => {
  const { page } = dashboard
  await dashboard.go('/approvals')
  await page.getByRole('heading', { name: 'Khai mạc SEA Games' }).waitFor()
  await page.route('**/approve', (route) =>
    route.fulfill({
      status: 409,
      contentType: 'application/problem+json',
      body: JSON.stringify({ status: 409, code: 'conflict', title: 'Conflict', detail: 'Edited meanwhile.' }),
    }),
  )
  await page.keyboard.press('a')
  await message(page, 'Not decided: “Khai mạc SEA Games”')
  await page.getByRole('heading', { name: 'Khai mạc SEA Games' }).waitFor()
  await page.unroute('**/approve')
  dashboard.fine()
})

test('a page whose code is not loaded opens when the connection is back, and nothing is replaced', async () => {
  const { page, context } = dashboard
  await dashboard.go('/calendar')
  await dashboard.live()
  await context.setOffline(true)
  await page.getByRole('link', { name: 'Recurring' }).click()
  await message(page, 'No connection')
  await page.getByRole('heading', { name: 'Calendar', level: 1 }).waitFor()
  await shoot(dashboard, 'offline')
  await context.setOffline(false)
  await page.getByRole('heading', { name: 'Recurring', level: 1 }).waitFor()
  dashboard.fine()
})

test('ten posts in five minutes are readable: columns, and a list of the others', async () => {
  const { page } = dashboard
  // A day on which no other test of this file schedules anything, whatever the time is now.
  const at = new Date(Date.now() + 4 * 24 * hour)
  at.setUTCHours(3, 0, 0, 0)
  const day = at.toISOString().slice(0, 10)
  for (let i = 0; i < 10; i++)
    await post(`Bản tin số ${i}`, { scheduled_time: new Date(at.getTime() + i * 30_000).toISOString() })
  for (const [width, view] of [
    [1440, 'week'],
    [1440, 'day'],
    [768, 'week'],
    [390, 'week'],
    [390, 'day'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await dashboard.go(`/calendar?view=${view}&date=${day}`)
    const overflow = page.locator('[data-overflow]').first()
    await overflow.waitFor()
    const entries = page.locator('[data-calendar] [data-event-id]', { hasText: 'Bản tin' })
    const shown = await entries.count()
    expect(shown + Number(await overflow.getAttribute('data-overflow')), `${view} ${width}`).toBe(10)
    for (const box of await entries.evaluateAll((all) => all.map((e) => e.getBoundingClientRect().width)))
      expect(box, `${view} ${width}`).toBeGreaterThan(40)
    await shoot(dashboard, `overflow-${view}-${width}`)
    await overflow.click()
    await page.locator('[data-overflow-list] li').nth(9).waitFor()
    await dashboard.accessible(`a overflow of a ${view} at ${width}`)
    await shoot(dashboard, `overflow-list-${view}-${width}`)
    await page.keyboard.press('Escape')
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  // From the list to the post: edit, move, duplicate, open.
  await dashboard.go(`/calendar?view=week&date=${day}`)
  await page.locator('[data-overflow]').first().click()
  await page.locator('[data-overflow-list] li', { hasText: 'Bản tin số 7' }).getByRole('button').click()
  const peek = page.getByRole('dialog', { name: 'Bản tin số 7' })
  await peek.waitFor()
  await dashboard.accessible('a post beside its entry')
  await shoot(dashboard, 'peek')
  for (const name of ['Edit', 'Open']) await peek.getByRole('link', { name }).waitFor()
  await peek.getByRole('button', { name: 'Duplicate' }).click()
  await page.waitForURL(/\/compose\?id=/)
  await message(page, 'Draft with the same content')
  expect(await page.getByRole('textbox', { name: 'Text', exact: true }).inputValue()).toBe('Bản tin số 7')
  dashboard.fine()
})

test('several states are shown at once, and the legend has all of them', async () => {
  const { page } = dashboard
  await dashboard.go('/calendar?view=month')
  for (const state of ['draft', 'pending', 'rejected', 'scheduled', 'failed', 'canceled'])
    await page.locator(`[data-legend=${state}]`).waitFor()
  await dashboard.go('/calendar?view=list&status=pending,scheduled')
  await page.locator('[data-post]', { hasText: 'Khai mạc SEA Games' }).waitFor()
  await page.locator('[data-post]', { hasText: 'Giá vàng tăng' }).waitFor()
  expect(await page.locator('[data-post]', { hasText: 'Mưa lớn ở Huế' }).count()).toBe(0)
  await page.getByLabel('Status').first().click()
  await until('the ten states', async () => (await page.getByRole('option').count()) === 10)
  await page.keyboard.press('Escape')
  dashboard.fine()
})

test('the list and the agenda start at now, fold series, and show years where needed', async () => {
  const { page } = dashboard
  await api('POST', '/series', {
    rule: 'FREQ=DAILY',
    starts: new Date(Date.now() + 40 * hour).toISOString().slice(0, 16),
    time_zone: 'UTC',
    template: { content: 'Bản tin hằng ngày', accounts: [mastodon] },
  })
  await until(
    'the posts of the series',
    async () => (await api<{ posts: Post[] }>('GET', '/posts?q=hằng&limit=50')).posts.length > 20,
  )
  await post('Năm sau', { scheduled_time: new Date(Date.UTC(new Date().getUTCFullYear() + 1, 5, 1, 12)).toISOString() })
  await dashboard.go('/calendar?view=list')
  const rows = page.locator('[data-post]')
  await rows.first().waitFor()
  expect(await rows.filter({ hasText: 'Bản tin hằng ngày' }).count()).toBe(1)
  await rows.filter({ hasText: 'Bản tin hằng ngày' }).locator('[data-more]').waitFor()
  const times = await rows.locator('time').evaluateAll((all) => all.map((e) => e.getAttribute('datetime') ?? ''))
  expect(times).toEqual([...times].sort())
  expect(Date.parse(times[0] ?? '')).toBeGreaterThan(Date.now() - 120_000)
  await rows
    .filter({ hasText: 'Năm sau' })
    .getByText(String(new Date().getUTCFullYear() + 1))
    .waitFor()
  await shoot(dashboard, 'list')
  await page.getByText('Drafts', { exact: true }).click()
  await rows.filter({ hasText: 'Mưa lớn ở Huế' }).waitFor()
  await dashboard.go('/calendar?view=agenda')
  await rows.filter({ hasText: 'Bản tin hằng ngày' }).first().waitFor()
  expect(await rows.filter({ hasText: 'Bản tin hằng ngày' }).count()).toBe(1)
  await page.getByRole('button', { name: 'Earlier' }).click()
  await page.waitForURL(/date=/)
  await page.getByRole('button', { name: 'Today' }).click()
  await dashboard.accessible('agenda')
  await shoot(dashboard, 'agenda')
  dashboard.fine()
})

test('the actions of the composer stay in sight, and one click splits a text into a thread', async () => {
  const { page } = dashboard
  const long = 'Thủ tướng: tiếp tục đẩy mạnh giải ngân vốn đầu tư công. '.repeat(14).trim()
  for (const width of [1440, 768, 390]) {
    await page.setViewportSize({ width, height: 844 })
    await dashboard.go('/compose')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill(long)
    const bar = page.getByRole('region', { name: 'Schedule or queue' })
    await bar.getByText('Fix before scheduling').waitFor()
    const seen = await bar.evaluate((e) => {
      const { top, bottom } = e.getBoundingClientRect()
      return top >= 0 && bottom <= innerHeight
    })
    expect(seen, `${width}`).toBe(true)
    await dashboard.accessible(`composer at ${width}`)
    await shoot(dashboard, `composer-${width}`)
    await page.locator('[data-saving=clean]').waitFor()
    const badge = page.locator('[data-count=x]').first()
    if ((await badge.count()) > 0) {
      await badge.hover()
      await page.getByText(/counts \d+ for \d+ letters/).waitFor()
    }
    await page.getByRole('button', { name: 'Split into a thread' }).click()
    await page.locator('textarea[data-part="1"]').waitFor()
    await bar.getByText('Fix before scheduling').waitFor({ state: 'detached' })
    const parts = await page
      .locator('textarea[data-part]')
      .evaluateAll((all) => all.map((e) => (e as HTMLTextAreaElement).value))
    expect(parts.join(' ')).toBe(long)
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.locator('textarea[data-part="1"]').waitFor({ state: 'detached' })
    expect(await page.getByRole('textbox', { name: 'Text', exact: true }).inputValue()).toBe(long)
    await page.locator('[data-saving=clean]').waitFor()
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  dashboard.fine()
})

test('text is not lost when the page is left at once, and edits of a scheduled post wait for it', async () => {
  const { page } = dashboard
  await dashboard.go('/compose')
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Vừa gõ xong đã rời trang')
  await page.getByRole('link', { name: 'Calendar' }).first().click()
  await until('the draft', async () =>
    (await api<{ posts: Post[] }>('GET', '/posts?status=draft&limit=50')).posts.some(
      (p) => p.content === 'Vừa gõ xong đã rời trang',
    ),
  )
  const scheduled = await post('Lịch cũ')
  await dashboard.go(`/compose?id=${scheduled.id}`)
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Lịch mới')
  await page.getByRole('link', { name: 'Calendar' }).first().click()
  await page.getByRole('heading', { name: 'Calendar', level: 1 }).waitFor()
  page.once('dialog', (x) => void x.accept())
  await dashboard.go(`/compose?id=${scheduled.id}`)
  await page.getByText('Text that was not saved has been restored.').waitFor()
  expect(await page.getByRole('textbox', { name: 'Text', exact: true }).inputValue()).toBe('Lịch mới')
  expect((await api<Post>('GET', `/posts/${scheduled.id}`)).content).toBe('Lịch cũ')
  await page.getByRole('button', { name: 'Discard it' }).click()
  const text = page.getByRole('textbox', { name: 'Text', exact: true })
  await until('the stored text', async () => (await text.inputValue()) === 'Lịch cũ')
  dashboard.fine()
})

test.each([
  ['a watch', '/news/watches', /Watch a page|Add/, 'Name'],
  ['a site', '/readers', /^Add/, 'Name'],
])('%s keeps what was typed on Esc, a click beside it and a reload', async (_, path, button, field) => {
  const { page } = dashboard
  await dashboard.go(path)
  const open = () => page.getByRole('main').getByRole('button', { name: button }).first().click()
  const input = page.getByRole('dialog').getByRole('textbox', { name: field }).first()
  await open()
  await input.fill('Chưa xong')
  await page.keyboard.press('Escape')
  await message(page, 'Not saved yet')
  await open()
  await page.locator('[data-restored]').waitFor()
  expect(await input.inputValue()).toBe('Chưa xong')
  await page.mouse.click(5, 700)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.reload()
  await page.locator('h1').first().waitFor()
  await open()
  expect(await input.inputValue()).toBe('Chưa xong')
  await dashboard.accessible('a form that was continued')
  await page.getByRole('button', { name: 'Start over' }).click()
  await until('the empty text', async () => (await input.inputValue()) === '')
  await page.keyboard.press('Escape')
  dashboard.fine()
})

test('an upload continues when its page is left', async () => {
  const { page } = dashboard
  await dashboard.go('/media')
  let go = () => {}
  const held = new Promise<void>((done) => (go = done))
  await page.route('**/api/v1/media', async (route) => {
    if (route.request().method() === 'POST') await held
    await route.continue()
  })
  await page.locator('input[type=file]').setInputFiles(sample())
  await page.locator('[data-uploads="1"]').waitFor()
  await page.getByRole('link', { name: 'Calendar' }).first().click()
  await page.getByRole('heading', { name: 'Calendar', level: 1 }).waitFor()
  await page.locator('[data-uploads="1"]').waitFor()
  await dashboard.accessible('an upload in the background')
  go()
  await message(page, 'is uploaded')
  await page.locator('[data-uploads]').waitFor({ state: 'detached' })
  await page.unroute('**/api/v1/media')
  await page.getByRole('link', { name: 'Media' }).click()
  await page.locator('[data-file="morning.png"]').first().waitFor()
  dashboard.fine()
})

test('a retry that is refused again says so', async () => {
  const { page } = dashboard
  const fault = {
    kind: 'status',
    status: 422,
    method: 'POST',
    path: '/api/v1/statuses',
    body: '{"error":"chat not found"}',
    count: 2,
  }
  await d.faults(fault)
  const refused = await post('Bị từ chối', { scheduled_time: new Date(Date.now() + 2000).toISOString() })
  await until('it to be refused', async () => (await api<Post>('GET', `/posts/${refused.id}`)).status === 'failed')
  await dashboard.go('/dead-letters')
  await page.locator('[data-do=retry]').first().click()
  await message(page, /Refused again.*chat not found/s)
  await d.faults()
  await page.locator('[data-do=retry]').first().click()
  await message(page, /Posted to/)
  dashboard.fine()
})

test('a post is named by its first words, and can be posted again', async () => {
  const { page } = dashboard
  const scheduled = await post('Hồ sơ vụ án được công bố\nDòng thứ hai')
  await dashboard.go(`/posts/${scheduled.id}`)
  await page.getByRole('heading', { name: 'Hồ sơ vụ án được công bố', level: 1 }).waitFor()
  expect(await page.title()).toBe('Hồ sơ vụ án được công bố · Dateline')
  await page.getByRole('button', { name: 'Duplicate' }).waitFor()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Copy link' }).click()
  await message(page, 'Link copied.')
  await dashboard.accessible('a post')
  await page.getByRole('main').getByRole('link', { name: 'Calendar' }).click()
  await page.getByRole('heading', { name: 'Calendar', level: 1 }).waitFor()
  dashboard.fine()
})

test('the running hour and day are drawn, and pages are listed from the first view on', async () => {
  const { page } = dashboard
  const { site } = await api<{ site: { id: string; write_key: string } }>('POST', '/sites', { name: 'Báo Sáng' })
  for (let i = 0; i < 30; i++)
    await fetch(`${d.api}/v1/view`, {
      method: 'POST',
      body: JSON.stringify({ site: site.write_key, page: i % 3 ? '/tin-nhanh' : '/bai-dai' }),
      headers: {
        'Content-Type': 'application/json',
        'Accept-Language': 'vi',
        'User-Agent': `Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0 203.0.113.${i}`,
      },
    })
  for (const range of ['today', '7days', '28days']) {
    await dashboard.go(`/readers?site=${site.id}&range=${range}`)
    await until('the views', async () => {
      await page.reload()
      return (await page.locator('[data-total=views] [data-value]').textContent()) === '30'
    })
    await page.locator('[data-running]').waitFor()
    await page.locator('[data-table=pages] [data-row="/tin-nhanh"] [data-number]', { hasText: '20' }).waitFor()
    await page.locator('[data-table=pages] [data-row="/bai-dai"] [data-number]', { hasText: '10' }).waitFor()
    expect(await page.getByText('No data in this range.').count()).toBe(0)
    await dashboard.accessible(`readers ${range}`)
    await shoot(dashboard, `readers-${range}`)
  }
  dashboard.fine()
})

test('the workspace and its sites have settings', async () => {
  const { page } = dashboard
  await dashboard.go('/settings')
  const name = page.getByRole('textbox', { name: 'Name of the workspace' })
  await until('the name', async () => (await name.inputValue()) !== '')
  const before = await name.inputValue()
  await name.fill('Tòa soạn Báo Sáng')
  await page.getByRole('switch', { name: 'Posts of authors need approval' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await message(page, 'Settings saved.')
  expect(await api('GET', '/workspace')).toMatchObject({ name: 'Tòa soạn Báo Sáng', authors_need_approval: true })
  await dashboard.accessible('settings')
  await shoot(dashboard, 'settings')
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await until('the settings before', async () => {
    const now = await api<{ name: string; authors_need_approval: boolean }>('GET', '/workspace')
    return now.name === before && !now.authors_need_approval
  })
  await api('POST', '/sites', { name: 'Báo Chiều', domains: ['chieu.example'] })
  await dashboard.go('/settings?tab=sites')
  const site = page.locator('[data-site="Báo Chiều"]')
  await site.getByRole('checkbox').first().click()
  await site.getByRole('button', { name: 'Save' }).click()
  await message(page, 'Báo Chiều saved.')
  await site.getByRole('button', { name: 'New secret key' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'New secret key' }).click()
  await site.getByText(/^dls_/).waitFor()
  await dashboard.accessible('settings of sites')
  await shoot(dashboard, 'settings-sites')
  await site.getByRole('button', { name: 'Delete site' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete site' }).click()
  await message(page, 'Báo Chiều deleted.')
  const { sites } = await api<{ sites: { name: string }[] }>('GET', '/sites')
  expect(sites.map((s) => s.name)).not.toContain('Báo Chiều')
  dashboard.fine()
})

test('the menu of a phone keeps the focus, and Esc closes it', async () => {
  const { page } = dashboard
  await page.setViewportSize({ width: 390, height: 844 })
  await dashboard.go('/calendar')
  const menu = page.getByRole('button', { name: 'Menu', exact: true })
  await menu.click()
  const inMain = () => page.evaluate(() => document.activeElement?.closest('main') !== null)
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press('Tab')
    expect(await inMain(), `after ${i + 1} tabs`).toBe(false)
  }
  await page.keyboard.press('Escape')
  await until('the menu to be closed', async () => (await menu.getAttribute('aria-expanded')) === 'false')
  expect(await menu.evaluate((e) => e === document.activeElement)).toBe(true)
  await page.setViewportSize({ width: 1440, height: 900 })
  dashboard.fine()
})

test('errors of suggestions and of times are shown where they are asked for', async () => {
  const { page } = dashboard
  await dashboard.go('/compose')
  const refuse = async (pattern: string, status: number) =>
    page.route(pattern, (route) =>
      status === 0
        ? route.abort()
        : route.fulfill({
            status,
            contentType: 'application/problem+json',
            body: JSON.stringify({ status, code: 'unavailable', title: 'Unavailable', detail: 'The network is down.' }),
          }),
    )
  await refuse('**/mentions*', 502)
  await page.getByRole('textbox', { name: 'Text', exact: true }).pressSequentially('Theo @baochi')
  await page.locator('[data-inline-failed]', { hasText: 'No suggestions' }).waitFor()
  await dashboard.accessible('a refused suggestion')
  await refuse('**/api/v1/time?*', 0)
  await page.getByLabel('Date and time').fill('tomorrow 9')
  await page.getByText("Dateline can't be reached").first().waitFor()
  await page.unroute('**/mentions*')
  await page.unroute('**/api/v1/time?*')
  dashboard.fine()
})
