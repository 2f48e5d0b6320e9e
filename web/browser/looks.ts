import { expect } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { type Dateline, Dashboard, shoot } from './harness'

/** The variants in which every page is checked: each color scheme, wide and narrow. */
export const looks: Look[] = [
  ['light', 1280, 900],
  ['dark', 1280, 900],
  ['light', 360, 740],
  ['dark', 360, 740],
]

type Look = [colorScheme: 'light' | 'dark', width: number, height: number]

/** Opens pages in one of the variants, takes screenshots, and expects that axe finds nothing serious. */
export async function lookAt(
  browser: Browser,
  d: Dateline,
  [colorScheme, width, height]: Look,
  pages: Record<string, string>,
  before: Record<string, (page: Page) => Promise<void>> = {},
): Promise<void> {
  const dashboard = await Dashboard.open(browser, d, { colorScheme, viewport: { width, height } })
  await dashboard.login(await d.link())
  const problems: string[] = []
  for (const [name, path] of Object.entries(pages)) {
    await dashboard.go(path)
    await dashboard.page.waitForLoadState('load')
    await dashboard.page.locator('[role=status][aria-label^=Loading]').first().waitFor({ state: 'detached' })
    await dashboard.live()
    await before[name]?.(dashboard.page)
    problems.push(...(await dashboard.barriers()).map((b) => `${name}: ${b}`))
    await shoot(dashboard, `${name}-${colorScheme}-${width < 600 ? 'narrow' : 'wide'}`)
  }
  expect(problems).toEqual([])
  dashboard.fine()
  await dashboard.close()
}

/** Scrolls to the end of a list until thousands of rows are loaded; only visible ones are rendered. */
export async function scrollsFar(page: Page, row: string): Promise<void> {
  await page.locator(row).first().waitFor()
  const drawn = await page.evaluate(async (row) => {
    for (const end = Date.now() + 90_000; document.body.scrollHeight <= 100_000 && Date.now() < end; ) {
      scrollTo(0, document.body.scrollHeight)
      await new Promise((done) => setTimeout(done, 50))
    }
    return { rows: document.querySelectorAll(row).length, high: document.body.scrollHeight }
  }, row)
  expect(drawn.high).toBeGreaterThan(100_000)
  expect(drawn.rows).toBeLessThan(60)
}
