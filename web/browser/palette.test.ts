import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'
import { lookAt, looks } from './looks'

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

interface Post {
  id: string
  status: string
  content: string
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const accountOf = async (network: string) =>
  (await api<{ accounts: { id: string; network: string }[] }>('GET', '/accounts')).accounts.find(
    (a) => a.network === network,
  )?.id
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

test('the first steps tick themselves off', async () => {
  const { page } = dashboard
  await dashboard.go('/calendar')
  const steps = page.getByRole('region', { name: 'First steps' })
  await steps.waitFor()
  const done = (id: string) => steps.locator(`[data-step=${id}][data-done=true]`)
  await done('account').waitFor() // the sandbox accounts
  expect(await steps.locator('[data-step=site][data-done=false]').count()).toBe(1)
  await dashboard.accessible('the first steps')
  await shoot(dashboard, 'onboarding')
  await api('POST', '/posts', {
    content: 'Tin đầu tiên',
    accounts: [await accountOf('mastodon')],
    scheduled_time: inDays(3),
  })
  await done('write').waitFor()
  await done('schedule').waitFor()
  await api('POST', '/sites', { name: 'News', domains: ['news.example'] })
  await dashboard.go('/calendar')
  await done('site').waitFor()
  await page.getByRole('button', { name: 'Hide first steps' }).click()
  await steps.waitFor({ state: 'detached' })
  await dashboard.go('/calendar')
  await page.getByRole('heading', { name: 'Calendar', level: 1 }).waitFor()
  expect(await steps.count()).toBe(0)
  dashboard.fine()
})

test('the command palette finds posts, pages and actions by keyboard', async () => {
  const { page } = dashboard
  await dashboard.go('/media')
  await page.keyboard.press('Control+k')
  const search = page.getByRole('textbox', { name: 'Search or run a command' })
  await search.waitFor()
  await dashboard.accessible('the palette')
  await shoot(dashboard, 'palette')
  await search.fill('dau tien')
  await page.locator('[data-palette=posts]', { hasText: 'Tin đầu tiên' }).waitFor()
  await shoot(dashboard, 'palette-post')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/posts\//)
  await page.getByText('Tin đầu tiên').first().waitFor()
  await page.keyboard.press('Control+k')
  await search.fill('needs att')
  await page.locator('[data-palette=pages]').first().waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/dead-letters/)
  await page.getByRole('button', { name: 'Search or run a command' }).click()
  await search.fill('zzzz')
  await page.getByText('Nothing found').waitFor()
  await page.keyboard.press('Escape')
  dashboard.fine()
})

test('the compact density shows more rows, and is remembered', async () => {
  const { page } = dashboard
  for (let hour = 1; hour < 4; hour++)
    await api('POST', '/posts', {
      content: `Tin ${hour}`,
      accounts: [await accountOf('mastodon')],
      scheduled_time: new Date(Date.now() + 2 * 86_400_000 + hour * 3_600_000).toISOString(),
    })
  await dashboard.go('/calendar?view=agenda')
  const height = async () => (await page.locator('.dl-agenda-row').first().boundingBox())?.height ?? 0
  const comfortable = await height()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Search or run a command' }).fill('compact density')
  await page.locator('[data-palette=actions]').first().waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await until('the rows to be lower', async () => (await height()) < comfortable)
  await dashboard.accessible('the compact density')
  await shoot(dashboard, 'agenda-compact')
  await page.reload()
  await until('it to be remembered', async () => (await height()) < comfortable)
  await page.evaluate(() => localStorage.removeItem('dateline-density'))
  dashboard.fine()
})

test('a spreadsheet is checked row by row, and its valid rows become posts', async () => {
  const { page } = dashboard
  const mastodon = await accountOf('mastodon')
  const file = join(mkdtempSync(join(tmpdir(), 'dateline-csv-')), 'tin.csv')
  writeFileSync(
    file,
    `content,scheduled_time,accounts\n"Bản tin sáng, ""đặc biệt""",${inDays(4)},${mastodon}\nMuộn rồi,2001-01-01T00:00:00Z,${mastodon}\nBản tin tối,${inDays(5)},${mastodon}\n`,
  )
  await dashboard.go('/import')
  await dashboard.accessible('the import, empty')
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByText('tin.csv: 3 rows checked').waitFor()
  expect(await page.locator('[data-row]').count()).toBe(3)
  await page.locator('[data-row="2"]').getByText('Bản tin sáng, "đặc biệt"').waitFor()
  await page.locator('[data-row="3"][data-valid=false]').getByText('scheduled_time').waitFor()
  await dashboard.accessible('the rows')
  await shoot(dashboard, 'import')
  await page.getByText('Rows with errors').click()
  await until('only the wrong row', async () => (await page.locator('[data-row]').count()) === 1)
  await page.getByRole('button', { name: 'Schedule 2 posts' }).click()
  await page.waitForURL(/\/calendar/)
  await until(
    'the posts',
    async () => (await api<{ posts: Post[] }>('GET', '/posts?q=ban+tin&status=scheduled')).posts.length === 2,
  )
  dashboard.fine()
})

test('what needs attention says why in plain words, and is decided in its row by keyboard', async () => {
  const { page } = dashboard
  const mastodon = await accountOf('mastodon')
  await d.faults({
    kind: 'status',
    status: 422,
    method: 'POST',
    path: '/api/v1/statuses',
    body: '{"error":"Validation failed."}',
  })
  const post = await api<Post>('POST', '/posts', {
    content: 'Không ai nhận',
    accounts: [mastodon],
    scheduled_time: inDays(2),
  })
  await api('POST', `/posts/${post.id}/publish-now`)
  await until('it to fail', async () => (await api<Post>('GET', `/posts/${post.id}`)).status === 'failed')
  await d.faults()
  await dashboard.go('/dead-letters')
  const row = page.locator(`[data-dead="${post.id}"]`)
  await row.getByText('Mastodon did not accept the post as it is. Edit it, then it is sent again.').waitFor()
  await row.getByRole('link', { name: 'Edit' }).waitFor()
  await dashboard.accessible('needs attention')
  await shoot(dashboard, 'dead-letters-row')
  await page.keyboard.press('j')
  await until('the row to have the focus', () => row.evaluate((e) => e === document.activeElement))
  await page.keyboard.press('x')
  await until(
    'it to be discarded',
    async () =>
      !(await api<{ dead_letters: { post_id: string }[] }>('GET', '/dead-letters')).dead_letters.some(
        (l) => l.post_id === post.id,
      ),
  )
  await row.waitFor({ state: 'detached' })
  dashboard.fine()
})

test('the palette and the import speak Vietnamese', async () => {
  const { page } = dashboard
  await page.evaluate(() => localStorage.setItem('dateline-language', 'vi'))
  await dashboard.go('/import')
  await page.getByRole('heading', { name: 'Nhập CSV' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Tìm kiếm hoặc chạy lệnh' }).fill('lich')
  await page.locator('[data-palette=pages]', { hasText: 'Lịch' }).first().waitFor()
  await shoot(dashboard, 'palette-vi')
  await page.evaluate(() => localStorage.setItem('dateline-language', 'en'))
  dashboard.fine()
})

test.each(looks)(
  'import, month and decisions are accessible in %s at %i px',
  async (...look) => {
    await lookAt(browser, d, look, {
      import: '/import',
      'month-empty': '/calendar?view=month',
      'dead-letters': '/dead-letters',
    })
  },
  240_000,
)
