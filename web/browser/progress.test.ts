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

test('a rebuild of the search index shows percentage, rate and time left, and is canceled', async () => {
  const { page } = dashboard
  await dashboard.go('/system')
  const index = page.getByRole('region', { name: 'Search index' })
  await index.locator('[data-rebuild=none]').waitFor()
  await index.getByRole('button', { name: 'Rebuild' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rebuild' }).click()
  await index.getByText('Rebuilt: 0 articles').waitFor()
  // One that is in progress.
  d.sql(`update search_rebuild_progress set status = 'running', done = 1000, total = 4000, finished_at = null`)
  await page.reload()
  const bar = index.getByRole('progressbar', { name: 'Rebuilding the search index' })
  await bar.waitFor()
  expect(await bar.getAttribute('aria-valuenow')).toBe('25')
  expect(await bar.getAttribute('aria-valuetext')).toBe('1,000 of 4,000 (25%)')
  d.sql('update search_rebuild_progress set done = 2000')
  await until('rate and time left', async () =>
    /^2,000 of 4,000 \(50%\) · [\d,.]+ per second · \d+ \w+ left$/.test(
      (await bar.getAttribute('aria-valuetext')) ?? '',
    ),
  )
  await dashboard.accessible('a rebuild in progress')
  await shoot(dashboard, 'rebuild')
  await index.getByRole('button', { name: 'Cancel' }).click()
  await index.getByText('2,000 of 4,000 articles were added to the new index.').waitFor()
  await dashboard.accessible('a canceled rebuild')
  dashboard.fine()
})

test('an import of statistics shows how many rows are stored, and is canceled', async () => {
  const { page } = dashboard
  const { site } = await d.send<{ site: { id: string } }>('POST', '/api/v1/sites', {
    name: 'News',
    domains: ['news.example'],
  })
  const running = async () =>
    (await d.send<{ running: unknown[] }>('GET', `/api/v1/sites/${site.id}/imports`)).running.length
  // One of another process.
  d.sql(
    `insert into stats_imports_running (id, workspace_id, site_id, source, done, total)
       select gen_random_uuid(), workspace_id, id, 'plausible', 1500, 2000 from sites`,
  )
  expect(await running()).toBe(1)
  await dashboard.go(`/readers?site=${site.id}`)
  await page.getByRole('button', { name: 'Import' }).click()
  const dialog = page.getByRole('dialog')
  const bar = dialog.getByRole('progressbar', { name: 'Storing the numbers of Plausible' })
  await bar.waitFor()
  expect(await bar.getAttribute('aria-valuenow')).toBe('75')
  // Without a total there is no percentage.
  d.sql('update stats_imports_running set done = 0, total = 0')
  const reading = dialog.getByRole('progressbar', { name: 'Reading the file of Plausible' })
  await reading.waitFor()
  expect(await reading.getAttribute('aria-valuenow')).toBeNull()
  await dashboard.accessible('an import in progress')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.getByRole('progressbar').waitFor({ state: 'detached' })
  expect(await running()).toBe(0)
  dashboard.fine()
})

test('an export shows rows and files, is canceled, and another one is downloaded', async () => {
  const { page } = dashboard
  await d.send('POST', '/api/v1/workspace/exports')
  await until(
    'the export to be done',
    async () =>
      (await d.send<{ exports: { status: string }[] }>('GET', '/api/v1/workspace/exports')).exports[0]?.status ===
      'done',
  )
  await dashboard.go('/settings')
  await page.locator('[data-export=done]').getByRole('link', { name: 'Download' }).waitFor()
  // Another one that takes long.
  d.sql(
    `insert into workspace_exports (id, workspace_id, status, progress)
       select gen_random_uuid(), id, 'running', '{"rows": {"posts": 30}, "rows_total": 40}' from workspaces`,
  )
  await page.reload()
  const bar = page.getByRole('progressbar', { name: 'Exporting rows' })
  await bar.waitFor()
  expect(await bar.getAttribute('aria-valuenow')).toBe('75')
  d.sql(
    `update workspace_exports set progress = '{"rows": {"posts": 40}, "rows_total": 40, "files": 1, "files_total": 8}'
       where status = 'running'`,
  )
  const files = page.getByRole('progressbar', { name: 'Exporting files' })
  await files.waitFor()
  expect(await files.getAttribute('aria-valuetext')).toBe('1 of 8 (12%)')
  await dashboard.accessible('an export in progress')
  await page.locator('[data-export=running]').getByRole('button', { name: 'Cancel' }).click()
  await page.locator('[data-export=canceled]').waitFor()
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await page.locator('[data-export=done]').nth(1).waitFor()
  await dashboard.accessible('exports')
  dashboard.fine()
})

test('an upload shows how much is sent, and is canceled', async () => {
  const { page } = dashboard
  await page.route('**/api/v1/media', () => undefined) // never answered
  await dashboard.go('/compose')
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'chart.png', mimeType: 'image/png', buffer: Buffer.alloc(50_000) })
  const bar = page.getByRole('progressbar', { name: 'Uploading chart.png' })
  await bar.waitFor()
  expect(await bar.getAttribute('aria-valuetext')).toMatch(/ of 50 kB \(\d+%\)/)
  await dashboard.accessible('an upload in progress')
  await page.locator('.dl-card', { has: bar }).getByRole('button', { name: 'Cancel' }).last().click()
  await bar.waitFor({ state: 'detached' })
  expect(await page.locator('[data-uploads]').count()).toBe(0)
  await page.unroute('**/api/v1/media')
  dashboard.fine()
})

test('progress is in Vietnamese', async () => {
  d.sql(`update search_rebuild_progress set status = 'running', done = 1000, total = 4000, finished_at = null`)
  const visitor = await Dashboard.open(browser, d, { locale: 'vi-VN', viewport: { width: 360, height: 740 } })
  const { page } = visitor
  await page.goto(await d.link())
  await page.getByRole('button', { name: 'Đăng nhập' }).click()
  await page.waitForURL(/\/app\//)
  await visitor.go('/system')
  const bar = page.getByRole('progressbar', { name: 'Đang tạo lại chỉ mục tìm kiếm' })
  await bar.waitFor()
  expect(await bar.getAttribute('aria-valuetext')).toBe('1.000 trên 4.000 (25%)')
  await visitor.accessible('progress in Vietnamese')
  visitor.fine()
  await visitor.close()
})
