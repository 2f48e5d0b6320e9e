import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard

beforeAll(async () => {
  await d.prepare({ DATELINE_CRAWL_DELAY: '100ms' })
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

const workspace = (name: string) => dashboard.page.getByRole('button', { name: new RegExp(`: ${name}$`) })

test('one click creates the demo', async () => {
  const { page } = dashboard
  await dashboard.go('/calendar')
  const steps = page.getByRole('region', { name: 'First steps' })
  await steps.getByRole('button', { name: 'Create the demo' }).click()
  await workspace('Demo').waitFor()
  await page.getByRole('region', { name: 'Demo' }).waitFor()
  await dashboard.accessible('the calendar of the demo')
})

// Every page of the navigation, with the tabs that people fill.
const pages = [
  '/calendar',
  '/approvals',
  '/series',
  '/rules',
  '/dead-letters',
  '/accounts',
  '/media',
  '/readers',
  '/readers?tab=authors',
  '/readers?tab=sections',
  '/readers?tab=goals',
  '/readers?tab=posts',
  '/readers?tab=live',
  '/news',
  '/news/stories',
  '/news/watches',
  '/news/saved',
  '/news/seeds',
  '/news/domains',
  '/settings',
  '/system',
  '/system?tab=members',
  '/system?tab=tokens',
  '/system?tab=webhooks',
  '/system?tab=notifications',
  '/system?tab=audit',
]

test.each(['en', 'vi'])(
  'no page of the demo is empty, in %s',
  async (language) => {
    const { page } = dashboard
    await page.evaluate((l) => localStorage.setItem('dateline-language', l), language)
    for (const path of pages)
      await until(
        `${path} to have content`,
        async () => {
          await dashboard.go(path)
          await page
            .locator('[role=status][aria-label^=Loading], [role=status][aria-label^="Đang tải"]')
            .first()
            .waitFor({ state: 'detached' })
          // Live numbers arrive a moment after their page.
          const empty = page.locator('.dl-empty')
          await empty
            .first()
            .waitFor({ state: 'detached', timeout: 10_000 })
            .catch(() => undefined)
          return (await empty.count()) === 0
        },
        150_000,
      )
    await page.evaluate(() => localStorage.removeItem('dateline-language'))
    dashboard.fine()
  },
  600_000,
)

test('one click removes the demo', async () => {
  const { page } = dashboard
  await page.evaluate(() => localStorage.removeItem('dateline-language'))
  await dashboard.go('/calendar')
  await page.getByRole('region', { name: 'Demo' }).getByRole('button', { name: 'Remove the demo' }).click()
  const dialog = page.getByRole('dialog')
  await dashboard.accessible('the question')
  await dialog.getByRole('button', { name: 'Remove the demo' }).click()
  await page.getByRole('region', { name: 'First steps' }).getByRole('button', { name: 'Create the demo' }).waitFor()
  const { workspaces } = await d.send<{ workspaces: unknown[] }>('GET', '/api/v1/workspaces')
  expect(workspaces).toHaveLength(1)
})
