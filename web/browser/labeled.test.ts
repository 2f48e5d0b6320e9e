import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'

// What is shown says what it is, and what could not be fetched is not shown as absent.

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard
let mastodon = ''

const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)

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

test('settings can be saved only when they were changed', async () => {
  const { page } = dashboard
  await api('POST', '/sites', { name: 'Báo Mai', domains: ['bao-mai.example'], time_zone: 'Asia/Ho_Chi_Minh' })
  for (const [path, field] of [
    ['/settings?tab=sites', 'Name'],
    ['/settings?tab=workspace', 'Name of the workspace'],
  ] as const) {
    await dashboard.go(path)
    const save = page.getByRole('button', { name: 'Save', exact: true }).first()
    await save.waitFor()
    expect(await save.isDisabled(), path).toBe(true)
    const name = page.getByRole('textbox', { name: field }).first()
    const before = await name.inputValue()
    await name.fill(`${before} 2`)
    expect(await save.isDisabled(), path).toBe(false)
    await name.fill(before)
    expect(await save.isDisabled(), path).toBe(true)
    await dashboard.accessible(path)
  }
  dashboard.fine()
})

test('webhooks name their events as the rest of the dashboard does', async () => {
  const { page } = dashboard
  await api('POST', '/webhooks', { url: `${d.sandbox}/hook`, types: ['post.failed', 'account.needs_reconnect'] })
  await dashboard.go('/system?tab=webhooks')
  const hook = page.getByRole('article').first()
  await hook.getByText('Failed', { exact: true }).waitFor()
  await hook.getByText('Account needs to be reconnected').waitFor()
  expect(await hook.getByText(/^(post|account)\./).count()).toBe(0)
  await page.getByRole('combobox', { name: 'Events' }).click()
  await page.getByRole('option', { name: 'Watched page changed' }).waitFor()
  await page.keyboard.press('Escape')
  await dashboard.accessible('webhooks')
  await shoot(dashboard, 'webhooks')
  dashboard.fine()
})

test('the price of a post says which network charges it', async () => {
  const { page } = dashboard
  const { authorize_url } = await api<{ authorize_url: string }>('POST', '/accounts/connect', {
    network: 'x',
    sandbox: true,
  })
  await page.goto(authorize_url)
  await page.getByRole('button', { name: 'Allow' }).click()
  let x = ''
  await until('the account', async () => {
    const { accounts } = await api<{ accounts: { id: string; network: string }[] }>('GET', '/accounts')
    x = accounts.find((a) => a.network === 'x')?.id ?? ''
    return x !== ''
  })
  const { id } = await api<{ id: string }>('POST', '/posts', { content: 'Mưa lớn ở Huế', accounts: [x], draft: true })
  await dashboard.go(`/compose?id=${id}`)
  await page
    .locator('[data-preview=x]')
    .getByText(/^X charges about \$0\.\d+\.$/)
    .waitFor()
  await dashboard.accessible('a price')
  dashboard.fine()
})

/** Fails requests as a server does that is down. */
const fail = (page: Page, pattern: string) =>
  page.route(pattern, (route) =>
    route.request().method() === 'GET'
      ? route.fulfill({
          status: 503,
          contentType: 'application/problem+json',
          body: JSON.stringify({ status: 503, code: 'unavailable', title: 'Unavailable', detail: 'The disk is full.' }),
        })
      : route.fallback(),
  )

test('what could not be fetched is named with a way to try again, not shown as absent', async () => {
  const { page } = dashboard
  await api('POST', '/labels', { name: 'Thời sự', color: 'blue', kind: 'label' })
  await api('POST', '/snippets', { kind: 'text', name: 'Chữ ký', text: 'Báo Mai' })
  const draft = await api<{ id: string }>('POST', '/posts', {
    content: 'Mưa lớn ở Huế',
    accounts: [mastodon],
    draft: true,
    scheduled_time: new Date(Date.now() + 86_400_000).toISOString(),
  })
  const post = await api<{ id: string }>('POST', `/posts/${draft.id}/submit`)
  await api('POST', `/posts/${post.id}/comments`, { text: 'Nguồn?', mentions: [] })
  const failed = (what: string) => page.locator('[data-inline-failed]', { hasText: `${what} could not be loaded.` })
  const cases: [what: string, pattern: string, open: () => Promise<void>, found: () => Promise<void>][] = [
    ['Comments', '**/comments', () => dashboard.go(`/posts/${post.id}`), () => page.getByText('Nguồn?').waitFor()],
    [
      'External approval',
      '**/review-links',
      () => dashboard.go(`/posts/${post.id}`),
      () => failed('External approval').waitFor({ state: 'detached' }),
    ],
    [
      'Snippets',
      '**/snippets',
      async () => {
        await dashboard.go('/compose')
        await page.getByRole('button', { name: 'Snippets' }).first().click()
      },
      () => page.getByText('Chữ ký').waitFor(),
    ],
    [
      'Labels',
      '**/labels',
      async () => {
        await dashboard.go('/calendar')
        await page.getByRole('button', { name: 'Manage labels' }).click()
      },
      () => page.getByRole('dialog').getByText('Thời sự').first().waitFor(),
    ],
  ]
  for (const [what, pattern, open, found] of cases) {
    await fail(page, pattern)
    await page.reload() // what was fetched before is forgotten
    await open()
    await failed(what).waitFor()
    await dashboard.accessible(`${what} that could not be fetched`)
    await page.unroute(pattern)
    await failed(what).getByRole('button', { name: 'Try again' }).click()
    await found()
    await until('the message to be gone', async () => (await failed(what).count()) === 0)
    await page.keyboard.press('Escape')
  }
  dashboard.fine()
})

test('earlier and later days of the agenda are reached by its date bar', async () => {
  const { page } = dashboard
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 })
    await dashboard.go('/calendar?view=agenda')
    await page.getByRole('heading', { name: 'Upcoming', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Earlier' }).click()
    await page.getByRole('heading', { name: /^From / }).waitFor()
    const week = new URL(page.url()).searchParams.get('date') ?? ''
    await page.getByRole('button', { name: 'Later' }).click()
    await until('the next week', () => (new URL(page.url()).searchParams.get('date') ?? '') > week)
    const far = new Date(Date.now() + 45 * 86_400_000)
    await page.getByRole('textbox', { name: 'Day' }).fill(far.toUTCString().slice(5, 16)) // 01 Dec 2026
    await page.getByRole('textbox', { name: 'Day' }).press('Enter')
    await page.waitForURL(`**date=${far.toISOString().slice(0, 10)}*`)
    await page.getByRole('textbox', { name: 'Day' }).press('Tab') // closes the calendar, which can cover the buttons
    await dashboard.accessible(`an agenda from a day at ${width} px`)
    await shoot(dashboard, `agenda-bar-${width}`)
    await page.getByRole('button', { name: 'Today' }).click()
    await page.getByRole('heading', { name: 'Upcoming', exact: true }).waitFor()
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  dashboard.fine()
})

test('only email says that email is not set up', async () => {
  const { page } = dashboard
  await dashboard.go('/system?tab=notifications')
  await page.getByRole('button', { name: 'Add channel' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Send by' }).waitFor()
  expect(await dialog.getByRole('alert').count()).toBe(0)
  expect(await dialog.getByText(/DATELINE_SMTP_HOST/).count()).toBe(0)
  await dialog.getByRole('combobox', { name: 'Send by' }).click()
  await page.getByRole('option', { name: /Email.*not set up/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('option').first().waitFor({ state: 'hidden' })
  await dashboard.accessible('a new channel')
  await page.keyboard.press('Escape')
  dashboard.fine()
})

test('long names of labels wrap, and a label is created where labels are managed', async () => {
  const { page } = dashboard
  const name = 'Phóng sự điều tra: an toàn thực phẩm trong bếp ăn trường bán trú'.slice(0, 60)
  await dashboard.go('/calendar')
  await page.getByRole('button', { name: 'Manage labels' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'New label' }).fill(name)
  await dialog.getByRole('button', { name: 'Add' }).click()
  const chip = dialog.locator(`[data-label="${name}"] > span:last-child`)
  await chip.waitFor()
  expect(await chip.evaluate((e) => e.scrollWidth <= e.clientWidth)).toBe(true)
  await shoot(dashboard, 'labels-long')
  await dashboard.accessible('a long label')
  await page.keyboard.press('Escape')
  dashboard.fine()
})
