import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServer, type ViteDevServer } from 'vite'
import { Dashboard, type Dateline, shoot, startBrowser } from './harness'

// The page of all shared components, as `npm run components` shows it.

const root = new URL('..', import.meta.url).pathname
let server: ViteDevServer
let browser: Browser
let address = ''

beforeAll(async () => {
  server = await createServer({
    root,
    configFile: join(root, 'vite.config.ts'),
    server: { host: '127.0.0.1', port: 0 },
  })
  await server.listen()
  address = server.resolvedUrls?.local[0]?.replace(/\/$/, '') ?? ''
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
})

test.each(['light', 'dark'] as const)(
  'every shared component is shown in the %s scheme, and is accessible',
  async (scheme) => {
    const d = { api: address, sandbox: address, bucket: address } as Dateline
    const dashboard = await Dashboard.open(browser, d, { viewport: { width: 1024, height: 900 } })
    const { page } = dashboard
    await page.goto(`${address}/components.html?scheme=${scheme}`)
    await page.locator('[data-component=NewsFrame]').waitFor({ timeout: 120_000 })
    await page.locator('[data-component=Chart] canvas').waitFor()
    await page.getByRole('button', { name: 'Modal', exact: true }).click()
    await page.getByRole('dialog', { name: 'Modal' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await shoot(dashboard, `components-${scheme}`)
    await dashboard.accessible(`components in ${scheme}`)
    dashboard.fine()
    await dashboard.close()
  },
)

/** What the pages do not use by itself: the frame of the dashboard, parts of other components, and hooks. */
const parts = [
  'DayInput',
  'Demo',
  'Notifications',
  'Onboarding',
  'Palette',
  'Shell',
  'Shortcuts',
  'ShortcutsDialog',
  'WhenPicker',
  'people',
]

test('no component is missing, and no build has the page', () => {
  const page = readFileSync(join(root, 'src/dev/Components.tsx'), 'utf8')
  const names = readdirSync(join(root, 'src/components'))
    .filter((f) => f.endsWith('.tsx'))
    .map((f) => f.replace('.tsx', ''))
  expect(names.filter((n) => !parts.includes(n) && !page.includes(`'../components/${n}'`))).toEqual([])
  const built = join(root, 'dist/assets')
  if (existsSync(built))
    for (const f of readdirSync(built).filter((f) => f.endsWith('.js')))
      expect(readFileSync(join(built, f), 'utf8').includes('data-component'), f).toBe(false)
})
