import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser } from './harness'

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard

beforeAll(async () => {
  await d.prepare()
  await d.start('--demo')
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
  options?: Record<string, unknown>
}

const drafts = async () => (await d.send<{ posts: Post[] }>('GET', '/api/v1/posts?status=draft')).posts

test('options of a network are chosen, validated at their fields, and stored', async () => {
  const { page } = dashboard
  await page.getByRole('link', { name: 'New post' }).first().click()
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Bão số 9: cấp báo động')
  await page.getByRole('button', { name: /Mastodon options/ }).click()
  const panel = page.locator('[data-options=mastodon]')
  await panel.getByRole('combobox', { name: 'Who can see this' }).click()
  await page.getByRole('option', { name: 'Unlisted' }).click()
  await panel.getByRole('switch', { name: 'Poll' }).click()
  // The choices are empty so far: the network would refuse them, so each field has an error.
  await panel.getByText('Choice 1 of the poll is empty. Fill it in or remove it.').waitFor()
  await dashboard.accessible('options with problems')
  await panel.getByRole('textbox', { name: 'Choice 1' }).fill('Có')
  await panel.getByRole('textbox', { name: 'Choice 2' }).fill('Không')
  await panel.getByText('Choice 1 of the poll is empty. Fill it in or remove it.').waitFor({ state: 'detached' })
  await page.locator('[data-saving=clean]').waitFor()
  await page.getByText('2 set').waitFor()
  await dashboard.accessible('options')
  await shoot(dashboard, 'compose-options')
  const [draft] = await drafts()
  expect(draft?.options).toEqual({ mastodon: { visibility: 'unlisted', poll: { choices: ['Có', 'Không'], duration_minutes: 1440 } } })

  // They are restored when the draft is opened.
  await dashboard.go(`/compose?id=${draft?.id}`)
  await page.getByRole('button', { name: /Mastodon options/ }).click()
  expect(await panel.getByRole('textbox', { name: 'Choice 2' }).inputValue()).toBe('Không')
  await panel.getByRole('switch', { name: 'Poll' }).click()
  await panel.getByText('1 set').waitFor()
  await page.locator('[data-saving=clean]').waitFor()
  expect((await drafts())[0]?.options).toEqual({ mastodon: { visibility: 'unlisted' } })
  dashboard.fine()
})
