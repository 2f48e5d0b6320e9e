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

interface Post {
  id: string
  content: string
  scheduled_time: string
  labels?: string[]
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const day = () => new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10)

test('posts are labeled together, found by label and text, and labels are renamed and deleted', async () => {
  const { page } = dashboard
  const mastodon = (await api<{ accounts: { id: string; network: string }[] }>('GET', '/accounts')).accounts.find(
    (a) => a.network === 'mastodon',
  )?.id
  for (const [i, text] of ['Bão số một', 'Bão số hai', 'Giá vàng'].entries())
    await api('POST', '/posts', { content: text, accounts: [mastodon], scheduled_time: `${day()}T0${i + 3}:00:00Z` })
  const labels = async (text: string) =>
    (await api<{ posts: Post[] }>('GET', `/posts?q=${encodeURIComponent(text)}`)).posts.flatMap((p) => p.labels ?? [])
  await dashboard.go('/calendar?view=agenda')
  await page.locator(`[data-day="${day()}"]`).getByText('Giá vàng').waitFor()
  await page.getByRole('searchbox', { name: 'Search posts' }).fill('bao so')
  await page.getByText('Giá vàng').waitFor({ state: 'detached' })
  await page.locator(`[data-day="${day()}"]`).getByRole('checkbox').first().check()
  await page.getByText('2 selected').waitFor()

  // By keys alone: a campaign is created and given to both.
  await page.getByRole('toolbar').getByRole('button', { name: 'Labels' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'Find or create a label' }).fill('Mùa bão')
  await page.getByRole('radiogroup', { name: 'Kind' }).getByText('Campaign').click()
  await dashboard.accessible('creating a label')
  await page.getByRole('button', { name: 'Create “Mùa bão”' }).press('Enter')
  await until('both to be of the campaign', async () => (await labels('bao so')).length === 2)
  await page.getByRole('textbox', { name: 'Find or create a label' }).fill('Khẩn')
  await page.getByRole('radiogroup', { name: 'Kind' }).getByText('Label').click()
  await page.getByRole('button', { name: 'Create “Khẩn”' }).press('Enter')
  await until('both to have the label, too', async () => (await labels('bao so')).length === 4)
  await page.keyboard.press('Escape')
  const done = page.locator('.mantine-Notification-root', { hasText: 'Labeled 2 posts “Khẩn”.' })
  await done.getByRole('button', { name: 'Undo' }).click()
  await until('the label to be removed again', async () => (await labels('bao so')).length === 2)
  await page.getByRole('toolbar').getByRole('button', { name: 'Labels' }).press('Enter')
  await page.getByRole('checkbox', { name: 'Khẩn' }).waitFor()
  await dashboard.accessible('choosing labels')
  await shoot(dashboard, 'labels-menu')
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('Giá vàng').waitFor()
  await page.getByLabel('Label', { exact: true }).first().click()
  await page.getByRole('option', { name: 'Mùa bão' }).click()
  await page.getByText('Giá vàng').waitFor({ state: 'detached' })
  expect(page.url()).toMatch(/label=/)
  await until(
    'both labeled posts',
    async () => (await page.locator('[data-post] [data-label="Mùa bão"]').count()) === 2,
  )
  await dashboard.accessible('filtered by label')
  await shoot(dashboard, 'agenda-labels')

  // The calendar can be colored by labels.
  await dashboard.go(`/calendar?view=month&date=${day()}`)
  await page.locator('[data-calendar=month] [data-post]').first().waitFor()
  await page.getByRole('radiogroup', { name: 'Color by' }).getByText('Label').click()
  await dashboard.accessible('the month')
  await shoot(dashboard, 'month-labels')
  await page.getByRole('button', { name: 'Manage labels' }).click()
  const dialog = page.getByRole('dialog', { name: 'Manage labels' })
  await dialog.getByRole('button', { name: 'Edit Mùa bão' }).click()
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Bão 2026')
  await dialog.getByRole('radio', { name: 'Red' }).click()
  await dashboard.accessible('editing a label')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.locator('[data-label="Bão 2026"]').waitFor()
  await dialog.getByRole('button', { name: 'Edit Bão 2026' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog', { name: 'Delete “Bão 2026”?' }).getByRole('button', { name: 'Delete' }).click()
  await until('it to be removed from its posts', async () => (await labels('bao so')).length === 0)
  dashboard.fine()
})

test('the month is used by keyboard, and a move is undone', async () => {
  const { page } = dashboard
  const post = (await api<{ posts: Post[] }>('GET', '/posts?q=gia+vang')).posts[0]
  const before = new Date(post?.scheduled_time ?? '').toISOString()
  await dashboard.go(`/calendar?view=month&date=${day()}`)
  await page.locator(`[data-day="${day()}"] .dl-month-date`).focus()
  await page.keyboard.press('ArrowLeft')
  const previous = new Date(Date.parse(day()) - 86_400_000).toISOString().slice(0, 10)
  expect(await page.evaluate(() => document.activeElement?.closest('td')?.dataset.day)).toBe(previous)
  await page.keyboard.press('Enter')
  await page.locator('[data-calendar=day]').waitFor()
  expect(page.url()).toContain(previous)

  await dashboard.go(`/calendar?view=month&date=${day()}`)
  await page.locator(`button[data-post="${post?.id}"]`).press('Enter')
  await page
    .getByRole('dialog')
    .getByLabel(/Reschedule to/)
    .fill(`${day()}T20:30`)
  await page.getByRole('dialog').getByRole('button', { name: 'Reschedule' }).click()
  const now = async () => new Date((await api<Post>('GET', `/posts/${post?.id}`)).scheduled_time).toISOString()
  await until('it to be moved', async () => (await now()) !== before)
  await page.getByRole('button', { name: 'Undo' }).click()
  await until('it to be where it was', async () => (await now()) === before)
  await page.getByText('Undone.').waitFor()
  dashboard.fine()
})

test('labels speak Vietnamese', async () => {
  const { page } = dashboard
  await page.evaluate(() => localStorage.setItem('dateline-language', 'vi'))
  await dashboard.go('/calendar?view=agenda')
  await page.getByRole('searchbox', { name: 'Tìm bài viết' }).waitFor()
  await page.locator('.dl-agenda-row').first().getByRole('checkbox').check()
  await page.getByRole('toolbar').getByRole('button', { name: 'Nhãn' }).click()
  await page.getByRole('textbox', { name: 'Tìm hoặc tạo nhãn' }).fill('Mới')
  await page.getByRole('button', { name: 'Tạo “Mới”' }).waitFor()
  await shoot(dashboard, 'labels-vi')
  dashboard.fine()
})
