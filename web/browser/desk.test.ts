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
  scheduled_time: string
  queue_group_id?: string
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const scheduled = async () => (await api<{ posts: Post[] }>('GET', '/posts?status=scheduled&order=asc&limit=200')).posts
const slots = async () => {
  const from = new Date()
  return (await api<{ slots: { at: string; post_id?: string }[] }>('GET', `/queue-slots?from=${from.toISOString()}&to=${new Date(from.getTime() + 30 * 86_400_000).toISOString()}`)).slots
}

test('a group gets weekly slots, and posts fill its queue', async () => {
  const { page } = dashboard
  await dashboard.go('/accounts')
  await page.getByRole('button', { name: 'New group' }).click()
  const dialog = page.getByRole('dialog', { name: 'New group' })
  await dialog.getByLabel('Name').fill('Sports desk')
  await dialog.getByRole('radio', { name: 'Teal' }).click()
  await dialog.getByText('Sat', { exact: true }).first().click()
  await dialog.getByText('Sun', { exact: true }).first().click()
  await dialog.getByRole('textbox', { name: 'Time', exact: true }).fill('07:30')
  await dialog.getByRole('button', { name: 'Add slot' }).click()
  await dialog.getByRole('textbox', { name: 'Time', exact: true }).fill('18:00')
  await dialog.getByRole('button', { name: 'Add slot' }).click()
  await dialog.getByText('14 slots per week').waitFor()
  await dialog.getByRole('button', { name: 'Remove Sunday 18:00' }).click()
  await dialog.getByText('13 slots per week').waitFor()
  await dashboard.accessible('editing a group')
  await shoot(dashboard, 'group')
  await dialog.getByRole('button', { name: 'Save group' }).click()
  await page.locator('[data-group="Sports desk"]').waitFor()
  const [first, second, third] = await slots()

  for (const [text, at] of [['Trận đấu tối nay', first?.at], ['Kết quả', second?.at]] as const) {
    await dashboard.go('/compose')
    await page.getByRole('button', { name: 'Sports desk' }).click()
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill(text)
    await page.locator(`[data-next-slot="${at}"]`).waitFor()
    await dashboard.accessible('adding to the queue')
    await until('it to be ready', () => page.getByRole('button', { name: /^Add to queue/ }).isEnabled())
    await shoot(dashboard, 'compose-queue')
    await page.getByRole('button', { name: /^Add to queue/ }).click()
    await page.waitForURL(/\/posts\//)
  }
  const queued = await scheduled()
  expect(queued.map((p) => [p.content, new Date(p.scheduled_time).getTime(), p.queue_group_id !== undefined])).toEqual([
    ['Trận đấu tối nay', Date.parse(first?.at ?? ''), true], ['Kết quả', Date.parse(second?.at ?? ''), true],
  ])

  // A free slot stands in the calendar; whoever clicks it writes for it.
  const date = new Date(Date.parse(third?.at ?? '') + 7 * 3_600_000).toISOString().slice(0, 10)
  await dashboard.go(`/calendar?view=day&date=${date}`)
  await page.locator('button:has([data-free-slot])').first().waitFor()
  await dashboard.accessible('free slots')
  await shoot(dashboard, 'calendar-free-slots')
  await page.locator('button:has([data-free-slot])').first().click()
  await page.waitForURL(/\/compose/)
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Từ một khung giờ trống')
  await page.locator('[data-saving=clean]').waitFor()
  await until('it to be ready', () => page.getByRole('button', { name: 'Schedule', exact: true }).isEnabled())
  await page.getByRole('button', { name: 'Schedule', exact: true }).click()
  await page.waitForURL(/\/posts\//)
  expect((await scheduled()).map((p) => p.queue_group_id !== undefined)).toEqual([true, true, true])

  // Canceled, the first slot is the next one again.
  await api('DELETE', `/posts/${queued[0]?.id}`)
  expect((await slots())[0]).toEqual({ ...first, post_id: undefined, queue_group_id: queued[0]?.queue_group_id })
  dashboard.fine()
})

test('a time is typed as people say it, or picked', async () => {
  const { page } = dashboard
  await dashboard.go('/compose')
  const field = page.getByLabel('Date and time')
  const understood = async (text: string, want: RegExp) => {
    await field.fill(text)
    await page.locator('[data-when]', { hasText: want }).waitFor()
  }
  await understood('tomorrow 9', /09:00.*GMT\+7/)
  await understood('ngày mai 9 giờ 15', /09:15.*GMT\+7/)
  await understood('thứ hai 7h30', /^Mon.*07:30/)
  await field.fill('when it suits')
  await page.getByText('Not understood.').waitFor()
  await dashboard.accessible('a time that is not understood')
  await field.fill('friday 18:45')
  await field.blur()
  expect(await field.inputValue()).toMatch(/^Fri \d+ \w{3} \d{4}, 18:45$/)

  await page.getByRole('button', { name: 'Open calendar' }).click()
  await page.getByRole('button', { name: 'Tomorrow morning' }).waitFor()
  expect(await page.locator('thead th').first().innerText()).toMatch(/Mo/)
  await dashboard.accessible('the picker')
  await shoot(dashboard, 'when-picker')
  await page.getByRole('button', { name: 'Tomorrow morning' }).click()
  await page.locator('[data-when]', { hasText: /09:00/ }).waitFor()

  await page.evaluate(() => localStorage.setItem('dateline-language', 'vi'))
  await dashboard.go('/compose')
  await page.getByLabel('Ngày giờ').fill('thứ sáu tuần sau 8h')
  await page.locator('[data-when]', { hasText: /08:00.*GMT\+7/ }).waitFor()
  await page.getByRole('button', { name: 'Mở lịch' }).click()
  await page.getByText('Sáng mai').waitFor()
  await shoot(dashboard, 'when-picker-vi')
  await page.evaluate(() => localStorage.setItem('dateline-language', 'en'))
  dashboard.fine()
})

const pages = { 'desk-accounts': '/accounts', 'desk-compose': '/compose', 'desk-calendar-week': '/calendar?view=week' }

test.each(looks)('the desk is accessible in %s at %i px', async (...look) => {
  await lookAt(browser, d, look, pages)
}, 240_000)
