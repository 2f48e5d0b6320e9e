import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dashboard, Dateline, shoot, startBrowser, until } from './harness'

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

interface Account {
  id: string
  network: string
  handle: string
  utm?: Record<string, string>
}

const send = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const accounts = async () => (await send<{ accounts: Account[] }>('GET', '/accounts')).accounts
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

test('UTM parameters of the account, the campaign and the post are shown, stored, and added to links', async () => {
  const { page } = dashboard
  const desk = (await accounts()).find((a) => a.network === 'mastodon')
  await dashboard.go('/accounts')
  await page.getByRole('button', { name: `More for ${desk?.handle}` }).click()
  await page.getByRole('menuitem', { name: 'Label and color' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'UTM parameters of this account' }).click()
  await dialog.getByRole('textbox', { name: 'Source' }).fill('mastodon')
  await dialog.getByRole('textbox', { name: 'Medium' }).fill('social')
  await dashboard.accessible('UTM parameters of an account')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await accounts()).find((a) => a.id === desk?.id)?.utm).toEqual({ source: 'mastodon', medium: 'social' })

  const campaign = await send<{ id: string }>('POST', '/labels', {
    name: 'Storm season',
    kind: 'campaign',
    utm: { campaign: 'storm' },
  })
  const post = await send<{ id: string }>('POST', '/posts', {
    content: 'Bão số 9: https://vnnews.example/bao',
    accounts: [desk?.id],
    labels: [campaign.id],
    track_links: true,
    scheduled_time: inHours(4),
  })
  await dashboard.go(`/compose?id=${post.id}`)
  await page
    .locator('[data-utm=mastodon]')
    .getByText('?utm_source=mastodon&utm_medium=social&utm_campaign=storm')
    .waitFor()
  await page.getByRole('button', { name: 'UTM parameters', exact: true }).click()
  await page.getByRole('textbox', { name: 'Medium' }).fill('breaking')
  await page
    .locator('[data-utm=mastodon]')
    .getByText('?utm_source=mastodon&utm_medium=breaking&utm_campaign=storm')
    .waitFor()
  await dashboard.accessible('UTM parameters of a post')
  await shoot(dashboard, 'compose-utm')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await until(
    'the post to be saved',
    async () => (await send<{ utm?: object }>('GET', `/posts/${post.id}`)).utm !== undefined,
  )
  const { links } = await send<{ links: { code: string }[] }>('GET', `/links?post=${post.id}`)
  const answer = await fetch(`${d.api}/l/${links[0]?.code}`, { redirect: 'manual' })
  expect(answer.headers.get('location')).toBe(
    'https://vnnews.example/bao?utm_source=mastodon&utm_medium=breaking&utm_campaign=storm',
  )
  dashboard.fine()
})

test('problems, warnings and the timeline are in Vietnamese, with dates and numbers as Vietnamese newsrooms write them', async () => {
  const desk = (await accounts()).find((a) => a.network === 'mastodon')
  const vietnamese = await Dashboard.open(browser, d, { locale: 'vi-VN' })
  const { page } = vietnamese
  await page.goto(await d.link())
  await page.getByRole('button').first().click()
  await page.waitForURL(/\/app\//)
  const post = await send<{ id: string }>('POST', '/posts', {
    content: 'Bản tin tối',
    accounts: [desk?.id],
    scheduled_time: inHours(3),
  })
  await send('PATCH', `/posts/${post.id}`, { scheduled_time: inHours(5), content: 'Bản tin tối, cập nhật' })
  await vietnamese.go(`/posts/${post.id}`)
  await page
    .locator('[data-event=created]')
    .getByText(/^Đã tạo, sẽ đăng lúc \d\d:\d\d:\d\d/)
    .waitFor()
  await page
    .locator('[data-event=edited]')
    .getByText(/^Đã chỉnh sửa: nội dung và thời gian đăng, nay là \d\d:\d\d/)
    .waitFor()
  await vietnamese.accessible('a post in Vietnamese')
  await shoot(vietnamese, 'post-vi')

  await vietnamese.go('/compose')
  await page.getByRole('textbox').first().waitFor()
  await page.locator('textarea').first().fill('x'.repeat(501))
  await page
    .getByText(/^Nội dung có 501 ký tự; .* cho phép 500\. Hãy rút gọn\.$/)
    .first()
    .waitFor()
  await shoot(vietnamese, 'compose-vi-problem')

  await vietnamese.go('/import')
  const past =
    'content,scheduled_time,time_zone\nMột,2020-01-07T07:30,Asia/Ho_Chi_Minh\nHai,2031-01-07T02:30,Mars/Olympus\n'
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'bai.csv', mimeType: 'text/csv', buffer: Buffer.from(past) })
  await page.getByText('07:30, 7/1/2020 đã qua. Hãy chọn thời điểm muộn hơn hoặc đăng ngay.').waitFor()
  await page.getByText('Múi giờ không xác định. Hãy dùng tên như Asia/Ho_Chi_Minh.').waitFor()
  await vietnamese.accessible('an import in Vietnamese')
  await shoot(vietnamese, 'import-vi')
  vietnamese.fine()
  await vietnamese.close()
})
