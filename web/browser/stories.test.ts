import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'
import { Paper } from './paper'

const d = new Dateline()
const paper = new Paper()
let browser: Browser
let dashboard: Dashboard

beforeAll(async () => {
  paper.add(
    'gia-vang-tiep-tuc-tang',
    'Kinh tế',
    'Lê Vy',
    'Giá vàng miếng vượt kỷ lục',
    'Vàng miếng sáng nay đắt chưa từng thấy.',
    'Giá vàng miếng sáng nay tăng gần một triệu đồng mỗi lượng, mức cao nhất từ trước đến nay theo niêm yết của các cửa hàng.',
    'Các chuyên gia cho rằng nhu cầu trú ẩn của nhà đầu tư, lãi suất giảm và đồng đô la yếu khiến vàng lập kỷ lục.',
    'Ngân hàng Nhà nước cho biết sẽ thanh tra mười hai doanh nghiệp kinh doanh kim loại quý trước cuối tháng.',
  )
  await paper.listen()
  await d.prepare({ DATELINE_ALLOW_PRIVATE_HOSTS: new URL(paper.address).host, DATELINE_CRAWL_DELAY: '100ms' })
  await d.start()
  browser = await startBrowser()
  dashboard = await Dashboard.open(browser, d)
  await dashboard.login(d.login)
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
  paper.close()
})
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && dashboard) await shoot(dashboard, `failed ${task.name.slice(0, 40)}`)
})

const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)

test('articles about one event become a story, which an editor splits and restores', async () => {
  const { page } = dashboard
  await page.getByRole('link', { name: 'News', exact: true }).click()
  await page.getByRole('link', { name: 'Stories', exact: true }).click()
  await page.getByText('No stories', { exact: true }).waitFor()
  await dashboard.accessible('no stories')
  await api('POST', '/seeds', { url: paper.address })
  await until(
    'the story',
    async () => (await api<{ stories: unknown[] }>('GET', '/stories')).stories.length === 1,
    120_000,
  )
  await page.reload()
  const card = page.locator('[data-story]')
  await card.waitFor()
  await dashboard.accessible('stories')
  await card.getByRole('link').click()
  await page.locator('[data-entry]').nth(1).waitFor()
  expect(await page.locator('[data-entry]').count()).toBe(2)
  await page.getByText('No article on our sites and no post links to this story.').waitFor()
  await dashboard.accessible('a story')
  await shoot(dashboard, 'story')

  await page.getByRole('checkbox').first().check()
  await dashboard.accessible('a story with a chosen article')
  await page.getByRole('button', { name: 'Split off as a new story' }).click()
  await page.locator('[data-event="split"]').waitFor()
  await until('one article', async () => (await page.locator('[data-entry]').count()) === 1, 10_000)
  await page.getByRole('button', { name: 'Undo' }).click()
  await until('both articles', async () => (await page.locator('[data-entry]').count()) === 2, 10_000)

  await page.getByRole('button', { name: 'Create draft' }).click()
  await page.waitForURL(/\/app\/posts\//)
  const { posts } = await api<{ posts: { status: string; content: string }[] }>('GET', '/posts?limit=10')
  expect(posts.map((p) => p.status)).toEqual(['draft'])
})

test('an editor sets the alert about missed stories', async () => {
  const { page } = dashboard
  await page.getByRole('link', { name: 'News', exact: true }).click()
  await page.getByRole('link', { name: 'Stories', exact: true }).click()
  await page.getByRole('button', { name: 'Alerts and owners' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Number of independent sources').fill('3')
  await dialog.getByLabel('Owners of domains').fill('news.example: Example Media')
  await dashboard.accessible('the alert about missed stories')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await api('GET', '/story-preferences')).toMatchObject({
    min_owners: 3,
    owners: { 'news.example': 'Example Media' },
  })
})
