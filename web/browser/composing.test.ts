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

test('a set of hashtags is saved from a post, and inserted into another by keyboard', async () => {
  const { page } = dashboard
  const text = page.getByRole('textbox', { name: 'Text', exact: true })
  const field = page.getByRole('textbox', { name: 'Find, or name the text to save it' })
  await dashboard.go('/compose')
  await text.fill('#bão #thờitiết')
  await page.getByRole('button', { name: 'Snippets' }).click()
  await field.fill('Thời tiết')
  await page.getByRole('radiogroup', { name: 'Kind' }).getByText('Hashtags').click()
  await until('it to be ready', () => page.getByRole('button', { name: 'Publish now' }).isEnabled())
  await dashboard.accessible('saving a snippet')
  await page.getByRole('button', { name: 'Save the text as “Thời tiết”' }).click()
  await page.getByText('“Thời tiết” saved.').waitFor()
  expect(
    (await d.send<{ snippets: { kind: string; text: string }[] }>('GET', '/api/v1/snippets')).snippets.map((s) => [
      s.kind,
      s.text,
    ]),
  ).toEqual([['hashtags', '#bão #thờitiết']])

  await dashboard.go('/compose')
  await text.fill('Mưa lớn ở Huế')
  await page.getByRole('button', { name: 'Snippets' }).focus()
  await page.keyboard.press('Enter')
  await field.fill('thoi')
  await page.locator('[data-snippet="Thời tiết"]').waitFor()
  await until('it to be ready', () => page.getByRole('button', { name: 'Publish now' }).isEnabled())
  await dashboard.accessible('choosing a snippet')
  await shoot(dashboard, 'snippets')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await until('the text to be inserted', async () => (await text.inputValue()) === 'Mưa lớn ở Huế #bão #thờitiết')
  await page.locator('[data-saving=clean]').waitFor() // what is not saved yet would be restored in the next composer

  await page.getByRole('button', { name: 'Snippets' }).click()
  await page.getByRole('button', { name: 'Delete Thời tiết' }).click()
  await until(
    'it to be deleted',
    async () => (await d.send<{ snippets: object[] }>('GET', '/api/v1/snippets')).snippets.length === 0,
  )
  await page.evaluate(() => localStorage.setItem('dateline-language', 'vi'))
  await dashboard.go('/compose')
  await page.getByRole('button', { name: 'Đoạn mẫu' }).click()
  await page.getByRole('textbox', { name: 'Tìm, hoặc đặt tên để lưu nội dung' }).waitFor()
  await shoot(dashboard, 'snippets-vi')
  await page.evaluate(() => localStorage.setItem('dateline-language', 'en'))
  dashboard.fine()
})

test('an account of the network is found while its name is typed, and inserted by keyboard', async () => {
  const { page } = dashboard
  const text = page.getByRole('textbox', { name: 'Text', exact: true })
  await dashboard.go('/compose')
  await text.click()
  await page.keyboard.type('Theo @des')
  const list = page.getByRole('listbox', { name: 'Accounts to mention' })
  await list.getByRole('option').first().waitFor()
  await dashboard.accessible('accounts to mention')
  await shoot(dashboard, 'mentions')
  await list.locator('[data-combobox-selected]').waitFor()
  await page.keyboard.press('Enter')
  await until('the handle to be inserted', async () => /^Theo @desk\S* $/.test(await text.inputValue()))
  await page.locator('[data-preview=mastodon] [data-span=mention]').waitFor()
  await page.locator('[data-saving=clean]').waitFor()
  dashboard.fine()
})

test('an account that is gone from the list of a longer name is not inserted', async () => {
  const { page } = dashboard
  const text = page.getByRole('textbox', { name: 'Text', exact: true })
  const options = page.getByRole('listbox', { name: 'Accounts to mention' }).getByRole('option')
  await page.route('**/mentions?q=*', async (route) => {
    const names = route.request().url().endsWith('q=hu') ? ['huhu', 'hung', 'hue'] : ['hue', 'huean']
    await route.fulfill({ json: { mentions: names.map((name) => ({ handle: `@${name}`, name })) } })
  })
  await dashboard.go('/compose')
  await text.click()
  await page.keyboard.type('Theo @hu')
  await until('the first list', async () => (await options.count()) === 3)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.type('e')
  await until('the second list', async () => (await options.count()) === 2)
  await page.keyboard.press('Enter')
  await until('an account to be inserted', async () => /\s$/.test(await text.inputValue()))
  expect(await text.inputValue()).toBe('Theo @hue ')
  await page.unroute('**/mentions?q=*')
  await page.locator('[data-saving=clean]').waitFor()
  dashboard.fine()
})

test('the parts of a thread that wait for their time are canceled', async () => {
  const { page } = dashboard
  const account = (
    await d.send<{ accounts: { id: string; network: string }[] }>('GET', '/api/v1/accounts')
  ).accounts.find((a) => a.network === 'mastodon')?.id
  type Post = { id: string; status: string; targets: { segments?: object[] }[] }
  const read = (id: string) => d.send<Post>('GET', `/api/v1/posts/${id}`)
  const { id } = await d.send<Post>('POST', '/api/v1/posts', {
    content: 'Phần một',
    thread: [{ content: 'Phần hai', after_minutes: 60 }],
    accounts: [account],
    scheduled_time: new Date(Date.now() + 86_400_000).toISOString(),
  })
  await d.send('POST', `/api/v1/posts/${id}/publish-now`)
  await until('the first part to be out', async () => (await read(id)).targets[0]?.segments?.length === 1)
  await dashboard.go(`/posts/${id}`)
  await page.getByRole('button', { name: 'Cancel remaining parts' }).click()
  await dashboard.accessible('canceling the remaining parts')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel remaining parts' }).click()
  await page.getByText('The remaining parts were canceled; what is published stays.').waitFor()
  const after = await read(id)
  expect([after.status, after.targets[0]?.segments?.length]).toEqual(['posted', 1])
  dashboard.fine()
})
