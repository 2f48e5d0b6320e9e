import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser, Locator, Page } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'

// What editors do many times a day takes at most three clicks or keys, besides the words that they type.

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard
let accounts: { id: string; network: string; handle: string }[]

interface Post {
  id: string
  status: string
  content: string
  scheduled_time: string
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const zone = 7 * 3_600_000
/** A time of the workspace, some days from today. */
const at = (days: number, clock: string) =>
  `${new Date(Date.now() + days * 86_400_000 + zone).toISOString().slice(0, 10)}T${clock}:00+07:00`
const idOf = (network: string) => accounts.find((a) => a.network === network)?.id ?? ''

/** Counts what an editor does. */
class Steps {
  count = 0
  constructor(private readonly page: Page) {}
  async click(what: Locator, modifiers: 'Shift'[] = []): Promise<void> {
    this.count++
    await what.click({ modifiers })
  }
  async press(key: string): Promise<void> {
    this.count++
    await this.page.keyboard.press(key)
  }
}

beforeAll(async () => {
  await d.prepare()
  await d.start()
  browser = await startBrowser()
  dashboard = await Dashboard.open(browser, d, { viewport: { width: 1440, height: 900 } })
  await dashboard.login(d.login)
  const all = async () => (await api<{ accounts: typeof accounts }>('GET', '/accounts')).accounts
  const { networks } = await api<{ networks: { name: string; sandbox_values?: Record<string, string> }[] }>(
    'GET',
    '/networks',
  )
  if (!(await all()).some((a) => a.network === 'bluesky'))
    await api('POST', '/accounts/form', {
      network: 'bluesky',
      sandbox: true,
      values: networks.find((n) => n.name === 'bluesky')?.sandbox_values,
    })
  accounts = await all()
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
})
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && dashboard) await shoot(dashboard, `failed ${task.name.slice(0, 40)}`)
})

const main = (page: Page, name: string | RegExp) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name })

test('ten posts are approved in three steps', async () => {
  const { page } = dashboard
  const all: Post[] = []
  for (let i = 0; i < 12; i++) {
    const draft = await api<Post>('POST', '/posts', {
      content: `Tin chờ duyệt số ${i + 1}`,
      accounts: [idOf('mastodon')],
      scheduled_time: at(2, `${String(6 + i).padStart(2, '0')}:00`),
      draft: true,
    })
    all.push(await api<Post>('POST', `/posts/${draft.id}/submit`))
  }
  await dashboard.go('/calendar')
  const steps = new Steps(page)
  await steps.click(main(page, /^Pending approval/))
  await page.getByRole('heading', { name: 'Tin chờ duyệt số 1', exact: true }).waitFor()
  await steps.click(page.getByRole('checkbox', { name: 'Select: Tin chờ duyệt số 10' }), ['Shift'])
  await dashboard.accessible('selected approvals')
  await shoot(dashboard, 'approvals-selected')
  await steps.click(page.getByRole('button', { name: 'Approve 10 posts' }))
  await page.getByText('10 posts approved.').waitFor()
  expect(steps.count).toBe(3)
  await page.locator('[data-approval]').nth(2).waitFor({ state: 'detached' })
  expect(await page.locator('[data-approval]').count()).toBe(2)
  for (const { id } of all.slice(0, 10)) expect((await api<Post>('GET', `/posts/${id}`)).status).toBe('scheduled')
  for (const { id } of all.slice(10)) expect((await api<Post>('GET', `/posts/${id}`)).status).toBe('draft')
  // The two that are left, by keyboard: select all of them, approve.
  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await page.keyboard.press('a')
  await page.getByText('2 posts approved.').waitFor()
  await page.getByText('No posts pending approval').waitFor()
  dashboard.fine()
})

test('posts that are refused together stay, and the others are approved', async () => {
  const { page } = dashboard
  const made: Post[] = []
  for (const [i, content] of ['Còn kịp', 'Đã qua giờ'].entries()) {
    const draft = await api<Post>('POST', '/posts', {
      content,
      accounts: [idOf('mastodon')],
      scheduled_time: at(3 + i, '06:00'),
      draft: true,
    })
    made.push(await api<Post>('POST', `/posts/${draft.id}/submit`))
  }
  await dashboard.go('/approvals')
  await page.locator('[data-approval]').nth(1).waitFor()
  await page.route(`**/api/v1/posts/${made[1]?.id}/approve`, (route) =>
    route.fulfill({
      status: 422,
      contentType: 'application/problem+json',
      body: JSON.stringify({ status: 422, code: 'unavailable', title: 'Unavailable', detail: 'The network is down.' }),
    }),
  )
  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await page.getByRole('button', { name: 'Approve 2 posts' }).click()
  await page.getByText('1 post approved.').waitFor()
  await page.getByText('1 post was not approved').waitFor()
  await page.getByRole('heading', { name: 'Đã qua giờ' }).waitFor()
  await page.unroute(`**/api/v1/posts/${made[1]?.id}/approve`)
  dashboard.fine()
})

test('a failed post is moved to tomorrow in three steps', async () => {
  const { page } = dashboard
  await d.faults({ kind: 'status', status: 422, method: 'POST', path: '/api/v1/statuses', body: '{"error":"no"}' })
  const failed = await api<Post>('POST', '/posts', {
    content: 'Bài bị từ chối',
    accounts: [idOf('mastodon')],
    scheduled_time: new Date(Date.now() + 2000).toISOString(),
  })
  const now = () => api<Post>('GET', `/posts/${failed.id}`)
  await until('it to fail', async () => (await now()).status === 'failed')
  await d.faults()
  await dashboard.go('/calendar')
  const steps = new Steps(page)
  await steps.click(main(page, /^Needs attention/))
  await steps.click(page.locator(`[data-dead="${failed.id}"]`).getByRole('button', { name: 'Move' }))
  await dashboard.accessible('the menu to move a post')
  await steps.click(page.getByRole('menuitem', { name: 'To tomorrow' }))
  await page.getByText(/^Moved to /).waitFor()
  expect(steps.count).toBe(3)
  const moved = await now()
  expect(moved.status).toBe('scheduled')
  const [was, is] = [failed, moved].map((p) => new Date(Date.parse(p.scheduled_time) + zone).toISOString())
  expect(is?.slice(11, 16)).toBe(was?.slice(11, 16))
  expect(is?.slice(0, 10)).toBe(at(1, '00:00').slice(0, 10))
  dashboard.fine()
})

test("last Tuesday's post of an account is found in three steps", async () => {
  const { page } = dashboard
  const local = new Date(Date.now() + zone)
  const back = ((local.getUTCDay() + 4) % 7) + 1 // to the last Tuesday before today
  const tuesday = at(-back, '09:00')
  for (const network of ['mastodon', 'bluesky']) {
    const { id } = await api<Post>('POST', '/posts', {
      content: `Bản tin thứ Ba trên ${network}`,
      accounts: [idOf(network)],
      draft: true,
      scheduled_time: at(5, '09:00'),
    })
    d.sql(`update scheduled_posts set scheduled_time = '${tuesday}' where post_id = '${id}'`)
  }
  await dashboard.go('/news')
  const steps = new Steps(page)
  await steps.click(main(page, 'Accounts'))
  await steps.click(page.getByRole('link', { name: /^Posts of Mastodon/ }))
  // At the beginning of a month, the month before is one step back.
  const cell = page.locator(`[data-day="${tuesday.slice(0, 10)}"]`)
  await page.locator('.dl-month').waitFor()
  if ((await cell.count()) === 0) await steps.click(page.getByRole('button', { name: 'Previous' }))
  await cell.locator('[data-post]', { hasText: 'Bản tin thứ Ba trên mastodon' }).waitFor()
  expect(steps.count).toBeLessThanOrEqual(3)
  expect(await page.getByText('trên bluesky').count()).toBe(0)
  dashboard.fine()
})

test('the article that was read most this hour is found in three steps', async () => {
  const { page } = dashboard
  const { site } = await api<{ site: { id: string; write_key: string } }>('POST', '/sites', { name: 'Báo Trưa' })
  for (let i = 0; i < 30; i++)
    await fetch(`${d.api}/v1/view`, {
      method: 'POST',
      body: JSON.stringify({ site: site.write_key, page: i % 3 ? '/doc-nhieu' : '/doc-it' }),
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': `Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0 203.0.113.${i}`,
      },
    })
  // The page asks for trends every 30 seconds.
  const trends = () => api<{ pages: unknown[] }>('GET', `/trending?site=${site.id}`)
  await until('the views to be counted', async () => (await trends()).pages.length > 1)
  await dashboard.go('/calendar')
  const steps = new Steps(page)
  await steps.click(main(page, 'Readers'))
  await steps.click(page.getByRole('tab', { name: 'Live and trending' }))
  await steps.click(page.getByRole('radio', { name: 'Hour', exact: true }).locator('..'))
  const trending = page.getByRole('region', { name: 'Trending' })
  await trending.getByText('/doc-nhieu').waitFor()
  expect(steps.count).toBe(3)
  dashboard.fine()
})

test('an editor is invited in three steps', async () => {
  const { page } = dashboard
  await dashboard.go('/calendar')
  const steps = new Steps(page)
  await steps.press('Control+k')
  await page.getByRole('textbox', { name: 'Search or run a command' }).fill('invite an ed')
  await page.locator('[data-palette=actions][data-selected]', { hasText: 'Invite an editor' }).waitFor()
  await steps.press('Enter')
  const email = page.getByRole('textbox', { name: 'Email' })
  await until('the field to have the focus', () => email.evaluate((e) => e === document.activeElement))
  await page.keyboard.type('bien.tap@news.example')
  await steps.press('Enter')
  await page.locator('[data-member="bien.tap@news.example"]').waitFor()
  expect(steps.count).toBe(3)
  const { members } = await api<{ members: { email?: string; role: string }[] }>('GET', '/members')
  expect(members.find((m) => m.email === 'bien.tap@news.example')?.role).toBe('editor')
  dashboard.fine()
})

test('a rule is paused in two steps', async () => {
  const { page } = dashboard
  await api('POST', '/rules', {
    name: 'Tin thể thao',
    definition: {
      trigger: { sections: ['Thể thao'] },
      conditions: { max_age_hours: 24 },
      templates: { default: '{title}\n\n{url}' },
      image: 'none',
      track_links: true,
      account_ids: [idOf('mastodon')],
      timing: { when: 'delay', delay_minutes: 30 },
      mode: 'approval',
      max_per_hour: 5,
      max_per_day: 20,
    },
  })
  await dashboard.go('/calendar')
  const steps = new Steps(page)
  await steps.click(main(page, 'Rules'))
  await steps.click(page.locator('[data-rule="Tin thể thao"]').getByRole('button', { name: 'Pause' }))
  await until('it to be paused', async () => {
    const { rules } = await api<{ rules: { status: string }[] }>('GET', '/rules')
    return rules[0]?.status === 'paused'
  })
  expect(steps.count).toBe(2)
  dashboard.fine()
})

test('the palette runs the commands of the open page', async () => {
  const { page } = dashboard
  const post = await api<Post>('POST', '/posts', {
    content: 'Lịch phát sóng cuối tuần',
    accounts: [idOf('mastodon')],
    scheduled_time: at(4, '08:00'),
  })
  await dashboard.go(`/posts/${post.id}`)
  await page.getByRole('heading', { name: 'Lịch phát sóng cuối tuần' }).first().waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Search or run a command' }).fill('tomorrow')
  await page.locator('[data-palette=here][data-selected]').waitFor()
  await dashboard.accessible('commands of a post')
  await page.keyboard.press('Enter')
  await page.getByText(/^Moved to /).waitFor()
  const moved = await api<Post>('GET', `/posts/${post.id}`)
  expect(Date.parse(moved.scheduled_time)).toBe(Date.parse(at(1, '08:00')))
  await page.keyboard.press('e')
  await page.waitForURL(/\/compose\?id=/)
  await page.getByRole('heading', { name: 'Edit post' }).waitFor()
  dashboard.fine()
})
