import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'
import { looks } from './looks'

// A busy day: two posts every quarter of an hour, ten within five minutes, problems, and long names.

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard
let mastodon = ''

interface Post {
  id: string
  status: string
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const zone = 7 * 3_600_000
const date = (days: number) => new Date(Date.now() + days * 86_400_000 + zone).toISOString().slice(0, 10)
const clock = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
const long = 'Nước sông dâng cao: hàng trăm hộ dân được di dời trong đêm, chính quyền lập ba điểm sơ tán ở ven sông'
const email = 'nguyen.thi.minh.khai.phong.vien.thuong.tru.mien.trung@toasoan-baomoi.example'
const day = date(2)

beforeAll(async () => {
  await d.prepare()
  await d.start()
  browser = await startBrowser()
  dashboard = await Dashboard.open(browser, d, { viewport: { width: 1440, height: 900 } })
  await dashboard.login(d.login)
  const { accounts } = await api<{ accounts: { id: string; network: string }[] }>('GET', '/accounts')
  mastodon = accounts.find((a) => a.network === 'mastodon')?.id ?? ''
  const minutes = [
    ...Array.from({ length: 10 }, (_, i) => 600 + Math.floor(i / 2)),
    ...Array.from({ length: 60 }, (_, i) => 480 + i * 12),
    1434,
    1438,
  ]
  for (const [i, m] of minutes.entries())
    await api('POST', '/posts', {
      content: `${long} (${i + 1})`,
      accounts: [mastodon],
      scheduled_time: `${day}T${clock(m)}:00+07:00`,
    })
  for (const name of ['Phóng sự điều tra: an toàn thực phẩm trong trường bán trú', 'Kinh tế', 'Thời sự'])
    await api('POST', '/labels', { name, kind: 'label' })
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
})
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && dashboard) await shoot(dashboard, `failed ${task.name.slice(0, 40)}`)
})

/** The boxes of a day's entries. */
const boxes = (page: Page) =>
  page.locator('[data-calendar] button[data-event-id]').evaluateAll((all) =>
    all.map((e) => {
      const { left, right, top, bottom } = e.getBoundingClientRect()
      return { left, right, top, bottom }
    }),
  )

test.each([
  ['day', 1440],
  ['week', 1440],
  ['day', 390],
  ['week', 390],
])('no entry of a busy %s covers another one at %i px, and each is tall enough', async (view, width) => {
  const { page } = dashboard
  // The window gets its width while the entries are shown.
  await page.setViewportSize({ width: width === 390 ? 1440 : 390, height: 900 })
  await dashboard.go(`/calendar?view=${view}&date=${day}`)
  await page.locator('[data-calendar] button[data-event-id]').nth(20).waitFor()
  await page.setViewportSize({ width, height: 900 })
  let all: Awaited<ReturnType<typeof boxes>> = []
  await until('the entries to stay where they are', async () => {
    const before = JSON.stringify(all)
    all = await boxes(page)
    return all.length > 20 && JSON.stringify(all) === before
  })
  for (const [i, a] of all.entries()) {
    expect(a.bottom - a.top).toBeGreaterThanOrEqual(24)
    for (const b of all.slice(i + 1))
      expect(
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 &&
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3,
        JSON.stringify([a, b]),
      ).toBe(false)
  }
  // Screen readers hear a day and a time, not 2026-11-29 00:30:00.
  const names = await page.locator('[data-calendar] button').evaluateAll((b) => b.map((e) => e.ariaLabel ?? ''))
  expect(names.filter((n) => /\d{4}-\d\d-\d\d|\d\d:00:00/.test(n))).toEqual([])
  await dashboard.accessible(`a busy ${view}`)
  await shoot(dashboard, `busy-${view}-${width}`)
  await page.setViewportSize({ width: 1440, height: 900 })
  dashboard.fine()
})

test('the filters of each view are one line at 1440 px', async () => {
  const { page } = dashboard
  for (const view of ['month', 'week', 'day', 'agenda', 'list']) {
    await dashboard.go(`/calendar?view=${view}&date=${day}`)
    const first = await page.getByRole('searchbox', { name: 'Search posts' }).boundingBox()
    const last = await page.getByRole('button', { name: 'Manage labels' }).boundingBox()
    expect(Math.abs((first?.y ?? 0) - (last?.y ?? 999)), view).toBeLessThan(8)
  }
})

test('text that is cut has all of it as a tooltip, and text that fits has none', async () => {
  const { page } = dashboard
  for (const [path, cut] of [
    [`/calendar?view=month&date=${day}`, '.dl-month-item > span'],
    [`/calendar?view=week&date=${day}`, '.dl-event > :last-child'],
    ['/calendar?view=list', '[data-post] p'],
  ] as const) {
    await page.setViewportSize({ width: 768, height: 900 })
    await dashboard.go(path)
    const text = page.locator(cut, { hasText: 'Nước sông' }).first()
    await text.hover()
    const title = await text.evaluate((e) => e.closest<HTMLElement>('[title]')?.title ?? '')
    expect(title, path).toMatch(/ở ven sông \(\d+\)$/)
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  const heading = page.getByRole('heading', { level: 1 })
  await heading.hover()
  expect(await heading.getAttribute('title')).toBeNull()
  dashboard.fine()
})

test('a day of a phone has one line for each post', async () => {
  const { page } = dashboard
  await page.setViewportSize({ width: 390, height: 844 })
  await dashboard.go('/calendar?view=agenda')
  const row = page.locator('.dl-agenda-row').first()
  await row.waitFor()
  expect((await row.boundingBox())?.height).toBeLessThan(50)
  await row.getByText('Scheduled').waitFor({ state: 'attached' }) // for screen readers
  await dashboard.accessible('an agenda on a phone')
  await shoot(dashboard, 'busy-agenda-390')
  await page.setViewportSize({ width: 1440, height: 900 })
  dashboard.fine()
})

test('a post of which an account is uncertain says so everywhere, and can be filtered by it', async () => {
  const { page } = dashboard
  await d.faults({ kind: 'hide', method: 'POST', path: '/api/v1/statuses', for: '1h' })
  await d.faults(
    { kind: 'act_then_reset', method: 'POST', path: '/api/v1/statuses', count: -1 },
    { kind: 'ignore_key', method: 'POST', path: '/api/v1/statuses', count: -1 },
  )
  const lost = await api<Post>('POST', '/posts', {
    content: 'Cầu tạm thông xe từ 5 giờ sáng',
    accounts: [mastodon],
    scheduled_time: `${date(1)}T10:00:00+07:00`,
  })
  await d.faults()
  // Reaching this state takes a network minutes.
  d.sql(
    `update post_targets set status = 'uncertain' where post_id = '${lost.id}'; update scheduled_posts set status = 'publishing' where post_id = '${lost.id}'`,
  )
  await dashboard.go(`/posts/${lost.id}`)
  await page.locator('[data-status=uncertain]').nth(1).waitFor()
  expect(await page.locator('[data-status=publishing]').count()).toBe(0)
  await dashboard.go(`/calendar?view=list&status=uncertain&from=${date(0)}&to=${date(3)}`)
  await page.locator(`[data-post="${lost.id}"] [data-status=uncertain]`).waitFor()
  expect(await page.locator('[data-post]').count()).toBe(1)
  await dashboard.go(`/calendar?view=month&date=${date(1)}`)
  await page.locator('[data-legend=uncertain]').waitFor()
  await page.locator(`[data-post="${lost.id}"][data-status=uncertain]`).waitFor()
  dashboard.fine()
})

test('keys work while a checkbox has the focus', async () => {
  const { page } = dashboard
  await dashboard.go('/calendar?view=agenda')
  await page.locator('.dl-agenda-row').getByRole('checkbox').first().check()
  await page.keyboard.press('w')
  await page.locator('[data-calendar=week]').waitFor()
  dashboard.fine()
})

test('the composer says what is missing', async () => {
  const { page } = dashboard
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 })
    await dashboard.go('/compose')
    const why = page.locator('[data-why]')
    await until('a reason', async () => (await why.textContent()) === 'Write something, or add a file.')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Tin mới')
    await until('another one', async () => (await why.textContent()) === 'Choose a date and time.')
    await dashboard.accessible(`a composer without a time at ${width} px`)
    await page.getByLabel('Date and time').fill(`${day}T09:00`)
    await why.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Discard draft' }).click()
    await page.getByRole('heading', { name: 'Calendar', level: 1 }).waitFor()
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  dashboard.fine()
})

test('a member with a long name can be changed and removed on a phone', async () => {
  const { page } = dashboard
  await api('POST', '/members', { email, role: 'author' })
  await page.setViewportSize({ width: 390, height: 844 })
  await dashboard.go('/system?tab=members')
  const row = page.locator(`[data-member="${email}"]`)
  await row.waitFor()
  const remove = await row.getByRole('button', { name: /^Remove/ }).boundingBox()
  expect((remove?.x ?? 999) + (remove?.width ?? 0)).toBeLessThanOrEqual(390)
  const name = await row.getByText(email).boundingBox()
  expect((name?.x ?? 0) + (name?.width ?? 999)).toBeLessThanOrEqual(390)
  await dashboard.accessible('members on a phone')
  await shoot(dashboard, 'busy-members-390')
  await page.setViewportSize({ width: 1440, height: 900 })
  dashboard.fine()
})

test.each(looks)('menus are accessible, in %s at %i px', async (colorScheme, width, height) => {
  const other = await Dashboard.open(browser, d, { colorScheme, viewport: { width, height } })
  await other.login(await d.link())
  const { page } = other
  await other.go('/accounts')
  const more = page.getByRole('button', { name: /^More/ }).first()
  await more.click()
  const item = page.getByRole('menuitem').first()
  await until('the first item to have the focus', () => item.evaluate((e) => e === document.activeElement))
  await other.accessible('a menu')
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })
  expect(await more.evaluate((e) => e === document.activeElement)).toBe(true)
  other.fine()
  await other.close()
})

test('in a narrow window no menu of a row covers its text, and hidden tabs show themselves', async () => {
  const { page } = dashboard
  await page.setViewportSize({ width: 768, height: 1024 })
  await api('POST', '/seeds', { url: 'https://tin-tuc-mien-trung-va-tay-nguyen.example/' })
  await dashboard.go('/news/seeds')
  const row = page.locator('[data-seed]').first()
  const menu = await row.getByRole('button').boundingBox()
  const link = await row.getByRole('link').first().boundingBox()
  const isBeside = (a: typeof menu, b: typeof menu) =>
    !!a && !!b && (a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height || b.y >= a.y + a.height)
  expect(isBeside(menu, link), JSON.stringify([menu, link])).toBe(true)
  await dashboard.accessible('seeds at 768 px')
  await shoot(dashboard, 'seeds-768')
  await dashboard.go('/system?tab=health')
  const tabs = page.getByRole('tablist')
  expect(await tabs.evaluate((e) => getComputedStyle(e).backgroundAttachment)).toContain('local')
  await dashboard.accessible('tabs at 768 px')
  await shoot(dashboard, 'tabs-768')
  await page.setViewportSize({ width: 1440, height: 900 })
  dashboard.fine()
})
