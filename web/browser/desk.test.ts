import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Desk, sample, shoot, startBrowser } from './harness'

const d = new Dateline()
let browser: Browser
let desk: Desk

beforeAll(async () => {
  await d.prepare()
  await d.start('--demo')
  browser = await startBrowser()
  desk = await Desk.open(browser, d)
  await desk.login(d.login)
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
})

/** A time so many seconds ahead, on the clock of the workspace, as the field for it takes it. */
const ahead = (seconds: number) => new Date(Date.now() + seconds * 1000 + 7 * 3_600_000).toISOString().slice(0, 16)

test('a newcomer connects a sandbox account', async () => {
  const { page } = desk
  await page.getByRole('link', { name: 'Accounts' }).click()
  await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor()
  await desk.accessible('accounts')
  await page.getByRole('button', { name: 'Connect an account' }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^X/ }).click()
  await page.getByRole('switch', { name: /Use the sandbox/ }).waitFor()
  await desk.accessible('connecting an account')
  await page.getByRole('button', { name: 'Go on and allow access' }).click()
  await page.getByRole('button', { name: /allow|authori[sz]e/i }).first().click()
  await page.getByRole('link', { name: /dashboard/i }).click()
  await page.locator('[data-account=x]').waitFor()
  desk.fine()
})

test('and composes a post with an image, which is saved as it is typed, previewed and counted', async () => {
  const { page } = desk
  await page.getByRole('link', { name: 'New post' }).first().click()
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Chào buổi sáng! <img src=x onerror=alert(1)> https://example.com/a/very/long/address')
  await page.locator('[data-saving=clean]').waitFor()
  await page.waitForURL(/compose\?id=/)
  await page.locator('input[type=file]').setInputFiles(sample())
  await page.getByRole('textbox', { name: 'Description' }).fill('Hills at sunrise')
  await page.getByText(/\d+ \/ 500/).first().waitFor()
  const preview = page.locator('[data-preview=mastodon]')
  await preview.getByText('<img src=x onerror=alert(1)>').waitFor()
  await preview.locator('[data-span=link]').waitFor()
  await preview.getByRole('img', { name: /Hills at sunrise|morning/ }).waitFor()
  await desk.accessible('composer')
  await shoot(desk, 'compose')
  desk.fine()
})

test('and schedules it, and watches it go out live', async () => {
  const { page } = desk
  await page.getByLabel('Date and time').fill(ahead(75))
  await page.getByRole('button', { name: 'Schedule', exact: true }).click()
  await page.waitForURL(/\/posts\//)
  await page.locator('[data-status=scheduled]').first().waitFor()
  // Nothing is pressed from here on: the page follows by itself.
  await page.locator('main [data-status=posted]').first().waitFor({ timeout: 110_000 })
  await page.locator('[data-event=posted]').first().waitFor()
  await page.getByText(/ms after its time/).first().waitFor()
  expect(await page.locator('main img[src=x]').count()).toBe(0)
  const shown = await (await fetch(`${d.sandbox}/__state/posts`)).text()
  expect(shown).toContain('Hills at sunrise')
  await desk.accessible('post')
  await shoot(desk, 'post')
  desk.fine()
}, 180_000)
