import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard
let mastodon = ''

const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
interface Post {
  id: string
  status: string
  approval?: { state: string }
}
const message = (page: Page, text: string | RegExp) =>
  page.locator('.mantine-Notification-root', { hasText: text }).first()

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

/** Clicks a control, and returns the milliseconds until a text is shown, and those of CPU time of the main thread. */
async function measured(page: Page, control: string, shown: string, text: string) {
  const spent = await dashboard.mainThread()
  const before = await spent()
  const wall = await page.evaluate(
    ([control = '', shown = '', text = '']) =>
      new Promise<number>((resolve) => {
        const start = performance.now()
        const look = () =>
          [...document.querySelectorAll(shown)].some((e) => e.textContent?.includes(text)) &&
          resolve(performance.now() - start)
        new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true })
        const all = [...document.querySelectorAll<HTMLElement>('button, [role=menuitem]')]
        all.find((e) => e.textContent?.trim() === control)?.click()
      }),
    [control, shown, text],
  )
  return { wall, cpu: (await spent()) - before }
}

/** Expects a change within 100 ms of CPU time, and before the response. */
function atOnce({ wall, cpu }: { wall: number; cpu: number }, what: string) {
  expect(cpu, `${what}: CPU`).toBeLessThan(100)
  expect(wall, what).toBeLessThan(3000)
}

/** Answers requests after three seconds, or refuses them. */
async function slow(page: Page, pattern: string, refuse = false) {
  await page.route(pattern, async (route) => {
    if (route.request().method() === 'GET') return route.continue()
    await new Promise((r) => setTimeout(r, 3000))
    return refuse
      ? route.fulfill({
          status: 409,
          contentType: 'application/problem+json',
          body: JSON.stringify({ status: 409, code: 'other', title: 'Conflict', detail: 'Somebody was faster.' }),
        })
      : route.continue()
  })
}

test('an approval that was a slip is undone while the post waits, and stands once it is out', async () => {
  const { page } = dashboard
  const { id } = await api<Post>('POST', '/posts', {
    content: 'Lãi suất giảm',
    accounts: [mastodon],
    draft: true,
    scheduled_time: new Date(Date.now() + 72e6).toISOString(),
  })
  await api('POST', `/posts/${id}/submit`)
  const state = async () => (await api<Post>('GET', `/posts/${id}`)).approval?.state
  for (const [decide, done] of [
    [() => page.keyboard.press('a'), 'Approved: “Lãi suất giảm”.'],
    [
      async () => {
        await page.getByRole('textbox', { name: 'What should be changed?' }).fill('Nguồn?')
        await page.getByRole('button', { name: 'Request changes' }).click()
      },
      'Changes requested: “Lãi suất giảm”.',
    ],
  ] as const) {
    await dashboard.go('/approvals')
    await page.getByRole('heading', { name: 'Lãi suất giảm' }).waitFor()
    await decide()
    await message(page, done).waitFor()
    await page.getByText('No posts pending approval').waitFor()
    await message(page, done).getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('heading', { name: 'Lãi suất giảm' }).waitFor()
    await message(page, 'Pending approval again: “Lãi suất giảm”.').waitFor()
    await until('the post to be pending', async () => (await state()) === 'pending')
  }
  await dashboard.go('/approvals')
  await page.getByRole('heading', { name: 'Lãi suất giảm' }).waitFor()
  await page.keyboard.press('a')
  await message(page, 'Approved: “Lãi suất giảm”.').waitFor()
  await api('POST', `/posts/${id}/publish-now`)
  await until('the post to be published', async () => (await api<Post>('GET', `/posts/${id}`)).status !== 'scheduled')
  await message(page, 'Approved: “Lãi suất giảm”.').getByRole('button', { name: 'Undo' }).click()
  await message(page, 'The decision stands: “Lãi suất giảm”').waitFor()
  expect(await state()).toBe('approved')
  dashboard.fine()
})

test('pausing is shown within 100 ms, restored with the reason when refused, and undone', async () => {
  const { page } = dashboard
  await api('POST', '/rules', {
    name: 'Kinh tế',
    definition: {
      trigger: { sections: ['Kinh tế'] },
      conditions: { max_age_hours: 24 },
      templates: { default: '{title}' },
      image: 'none',
      track_links: false,
      account_ids: [mastodon],
      timing: { when: 'now', hours: { from: '07:00', to: '22:00', weekdays: [], time_zone: 'Asia/Ho_Chi_Minh' } },
      mode: 'draft',
      max_per_hour: 5,
      max_per_day: 30,
    },
  })
  await api('POST', '/watches', { name: 'Giá xăng', url: 'https://gia.example/', selector: '', interval_minutes: 60 })
  for (const [path, pattern, card, name] of [
    ['/rules', '**/api/v1/rules/*/*', '[data-rule]', 'Kinh tế'],
    ['/news/watches', '**/api/v1/watches/*', '[data-watch]', 'Giá xăng'],
  ] as const) {
    await dashboard.go(path)
    await page.locator(card, { hasText: 'Active' }).waitFor()
    await slow(page, pattern, true)
    atOnce(await measured(page, 'Pause', card, 'Paused'), path)
    await message(page, `Not changed: ${name}`).getByText('Somebody was faster.').waitFor()
    await page.locator(card, { hasText: 'Active' }).waitFor()
    await page.unroute(pattern)
    await slow(page, pattern)
    atOnce(await measured(page, 'Pause', card, 'Paused'), path)
    await message(page, /Kinh tế” paused|Paused: Giá xăng/)
      .getByRole('button', { name: 'Undo' })
      .click()
    await page.locator(card, { hasText: 'Active' }).waitFor({ timeout: 2500 })
    await message(page, /resumed/i).waitFor()
    await page.unroute(pattern)
  }
  dashboard.fine()
})

test('roles, webhooks and accounts change at once, and can be undone', async () => {
  const { page } = dashboard
  await dashboard.go('/accounts')
  const account = page.locator('[data-account=mastodon]')
  const standard = account.getByRole('switch')
  const was = await standard.isChecked()
  await slow(page, '**/api/v1/accounts/*')
  await standard.click({ force: true })
  await until('the switch, before the response', async () => (await standard.isChecked()) === !was, 2500)
  await message(page, /by default\./)
    .getByRole('button', { name: 'Undo' })
    .click()
  await until('the switch', async () => (await standard.isChecked()) === was)
  await page.unroute('**/api/v1/accounts/*')
  await api('POST', '/members', { email: 'lan@news.example', role: 'author' })
  await dashboard.go('/system?tab=members')
  const member = page.locator('[data-member="lan@news.example"]')
  await member.getByRole('combobox').selectOption('editor')
  await message(page, 'now has the role').getByRole('button', { name: 'Undo' }).click()
  await until('the role', async () => (await member.getByRole('combobox').inputValue()) === 'author')
  dashboard.fine()
})
