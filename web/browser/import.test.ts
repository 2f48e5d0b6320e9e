import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'

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

const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
interface Post {
  content: string
  scheduled_time: string
}

test('local times and Vietnamese columns are read, an ambiguous time is refused, and rows are mended in place', async () => {
  const { page } = dashboard
  await dashboard.go('/import')
  const csv = [
    'Nội dung,Thời gian đăng,Múi giờ',
    'Giá vàng sáng,07/08/2030 10:00,Asia/Ho_Chi_Minh',
    'Giá xăng chiều,7h30 08/08/2030,Asia/Ho_Chi_Minh',
    'Tỷ giá,08/08/2030 9:05,Mars/Olympus',
  ].join('\n')
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'bài.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await page.getByText('bài.csv: 3 rows checked').waitFor()
  const row = (line: number) => page.locator(`[data-row="${line}"]`)
  await row(2).locator('[data-ambiguous]', { hasText: 'Aug 7, 2030' }).waitFor()
  await row(2).locator('[data-ambiguous]', { hasText: 'Jul 8, 2030' }).waitFor()
  expect(await row(3).getAttribute('data-valid')).toBe('true') // the same day and month
  await dashboard.accessible('rows to mend')
  await shoot(dashboard, 'import-mend')
  await row(2).getByLabel('scheduled_time, row 2').fill('2030-08-07 10:00')
  await row(4).getByLabel('time_zone, row 4').fill('Asia/Ho_Chi_Minh')
  await row(4).getByLabel('content, row 4').fill('Tỷ giá ngày 8/8')
  await page.getByRole('heading', { level: 1 }).click()
  await until('all rows to be valid', async () => (await page.locator('[data-row][data-valid=true]').count()) === 3)
  await page.getByRole('button', { name: 'Schedule 3 posts' }).click()
  await page.waitForURL(/\/calendar/)
  const { posts } = await api<{ posts: Post[] }>('GET', '/posts?order=asc&from=2030-01-01T00:00:00Z')
  const stored = posts.map((p) => [p.content, new Date(p.scheduled_time).toISOString()])
  expect(stored).toEqual([
    ['Giá vàng sáng', '2030-08-07T03:00:00.000Z'],
    ['Giá xăng chiều', '2030-08-08T00:30:00.000Z'],
    ['Tỷ giá ngày 8/8', '2030-08-08T02:05:00.000Z'],
  ])
  dashboard.fine()
})
