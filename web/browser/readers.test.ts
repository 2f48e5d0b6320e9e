import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'
import { lookAt, looks } from './looks'

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard
let site = ''

beforeAll(async () => {
  await d.prepare({
    DATELINE_SMTP_HOST: '127.0.0.1',
    DATELINE_SMTP_PORT: '9',
    DATELINE_SMTP_FROM: 'dateline@news.example',
  }) // nothing is sent
  await d.start()
  const made = await d.send<{ site: { id: string; write_key: string } }>('POST', '/api/v1/sites', {
    name: 'Báo',
    time_zone: 'UTC',
  })
  site = made.site.id
  await until('the key to be known', async () => (await view(made.site.write_key)) === 202)
  // The days before today, inserted directly.
  d.sql(`
    insert into site_days (site_id, day, views, clicks, conversions, visits, second_views, recirculation, visitors, sketch_due, pages_due)
      select '${site}', current_date - n, 1000 + 10 * n, 0, 0, 400, 100, 250, 300, false, false from generate_series(1, 120) n;
    insert into site_engagement (site_id, day, engaged, scrolled)
      select '${site}', current_date - n, array_fill(400, array[10]) || array_fill(0, array[14]), '{400,300,200,100}' from generate_series(1, 120) n;
    update site_days set engaged_visits = 240 where site_id = '${site}' and day < current_date;
    insert into site_dimension_days (site_id, dimension, day, value, views, visits)
      select '${site}', x.dimension, current_date - n, x.value, x.visits * 2, x.visits from generate_series(1, 120) n,
        (values ('channel', 'search', 250), ('channel', 'direct', 150), ('source', 'google.com', 250), ('source', 'direct', 150), ('campaign', 'tet-2027', 40),
          ('country', 'VN', 380), ('country', 'FR', 20), ('device', 'mobile', 300), ('device', 'desktop', 100), ('browser', 'Cốc Cốc', 90), ('os', 'Android', 200)) x (dimension, value, visits);
    insert into site_page_days (site_id, day, page_id, views, visitors, entries, recirculation)
      select '${site}', current_date - n, p.id, 700, 200, 300, 60 from generate_series(1, 120) n, view_pages p where p.site_id = '${site}' and p.page = '/bai-viet'`)
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

/** Sends one view, and waits until its page is stored. */
async function view(key: string): Promise<number> {
  const answer = await fetch(`${d.api}/v1/view`, {
    method: 'POST',
    body: JSON.stringify({ site: key, page: '/bai-viet' }),
    headers: {
      'Content-Type': 'application/json',
      'Accept-Language': 'vi',
      'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
    },
  })
  if (answer.status !== 202) return answer.status
  const today = new Date().toISOString().slice(0, 10)
  await until('the view to be stored', async () => {
    const report = await d.send<{ period: { totals: { views?: number } } }>(
      'GET',
      `/api/v1/sites/${site}/report?from=${today}&to=${today}&by=days&filter=${encodeURIComponent('page:/bai-viet')}`,
    )
    return (report.period.totals.views ?? 0) > 0
  })
  return answer.status
}

test('a report is selected by range and comparison, and filtered by a click on a row', async () => {
  const { page } = dashboard
  const total = (name: string) => page.locator(`[data-total=${name}]`)
  await dashboard.go(`/readers?site=${site}`)
  await total('views').waitFor()
  expect(await page.locator('[data-total]').count()).toBe(8)

  await page.getByRole('button', { name: /^Date range/ }).click()
  await page.getByRole('button', { name: 'Yesterday' }).waitFor()
  await dashboard.accessible('the range picker')
  await page.getByRole('button', { name: 'Yesterday' }).click()
  await page.waitForURL(/range=yesterday/)
  await total('views').getByText('1,010', { exact: true }).waitFor()
  await total('bounce_rate').getByText('75%', { exact: true }).waitFor()
  await total('engaged_bounce_rate').getByText('40%', { exact: true }).waitFor()
  await total('median_seconds').getByText('0:19', { exact: true }).waitFor()

  await page.getByRole('combobox', { name: 'Compare with' }).click()
  await page.getByRole('option', { name: 'Previous period' }).click()
  await page.waitForURL(/compare=previous/)
  await total('views').getByText('-1%', { exact: true }).waitFor()
  await page.getByText(/^Compared with/).waitFor()
  await total('visits').click()
  await page.locator('[data-chart=visits]').waitFor()
  await page.getByRole('button', { name: 'Show as table' }).click()
  await page.locator('[data-chart] table').getByRole('columnheader', { name: 'Compared' }).waitFor()
  await dashboard.accessible('the report')
  await shoot(dashboard, 'report')

  await page.getByRole('tab', { name: 'Channels' }).click()
  const csv = await page.locator('[data-csv=channels]').getAttribute('href')
  const file = await page.request.get(new URL(csv ?? '', page.url()).href)
  expect([file.status(), file.headers()['content-type'], (await file.text()).split('\n')[1]?.split(',')[0]]).toEqual([
    200,
    'text/csv; charset=utf-8',
    'search',
  ])
  await page.getByRole('button', { name: 'Filter by Search' }).click()
  await page.waitForURL(/filter=.*channel/)
  await total('visits').getByText('250', { exact: true }).waitFor()
  expect(await total('bounce_rate').count()).toBe(0)
  await page
    .locator('[data-unavailable]')
    .getByText(/two dimensions cannot be combined/)
    .waitFor()
  await dashboard.accessible('a filtered report')
  await shoot(dashboard, 'report-filtered')

  // The URL contains all of it; the filter is removed by keyboard.
  await page.reload()
  const chip = page.getByRole('button', { name: 'Remove filter Channel: Search' })
  await chip.focus()
  await page.keyboard.press('Enter')
  await chip.waitFor({ state: 'detached' })
  await total('views').getByText('1,010', { exact: true }).waitFor()
  expect(page.url()).not.toContain('filter')
  dashboard.fine()
})

test('filters combine, and those that are not counted together are disabled with the reason', async () => {
  const { page } = dashboard
  const chips = page.locator('[data-filter]')
  const option = (name: string) => page.getByRole('option', { name, exact: true })
  await dashboard.go(`/readers?site=${site}&range=7days&filter=channel:search`)
  await page.locator('[data-total=visits]').waitFor()
  const searched = Number((await page.locator('[data-total=visits] [data-value]').textContent())?.replace(',', ''))

  // Another value of the same dimension adds to it.
  await page.getByRole('button', { name: 'Add filter' }).click()
  await page.locator('[data-excluded]', { hasText: 'Country' }).waitFor()
  await page.getByRole('combobox', { name: 'Filter by' }).click()
  expect(await option('Country').getAttribute('data-combobox-disabled')).toBe('true')
  await option('Channel').click()
  await page.getByRole('combobox', { name: 'Values' }).click()
  await option('Direct').click()
  await dashboard.accessible('adding a filter')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.locator('[data-filter="channel:direct"]').waitFor()
  expect(await chips.count()).toBe(2)
  await until('the sum', async () => {
    const now = Number((await page.locator('[data-total=visits] [data-value]').textContent())?.replace(',', ''))
    return now > searched
  })
  await page.locator('[data-table=channels] [data-row=direct]').waitFor()
  expect(await page.locator('[data-table=countries]').count()).toBe(0)

  // Pages combine with devices, in every list and file.
  await dashboard.go(`/readers?site=${site}&range=7days&filter=page:/bai-viet`)
  await page.locator('[data-table=devices] [data-row] button').first().click()
  await until('both filters', async () => (await chips.count()) === 2)
  await page.reload()
  await page.locator('[data-total=views]').getByText('1', { exact: true }).waitFor()
  expect(await page.locator('[data-table=countries]').count()).toBe(0)
  const file = await page.locator('[data-csv=pages]').getAttribute('href')
  expect(file).toMatch(/filter=page%3A%2Fbai-viet&filter=device%3A/)
  await page.locator('[data-filter^="device:"]').click()
  await page.locator('[data-table=countries]').waitFor()
  expect(await chips.count()).toBe(1)
  dashboard.fine()
})

test('a row of a page leads to its report and to the page itself', async () => {
  const { page } = dashboard
  await dashboard.go(`/readers?site=${site}&range=7days`)
  await page.locator('[data-row="/bai-viet"] button').first().click()
  await page.locator('[data-filter="page:/bai-viet"]').waitFor()
  await page.locator('[data-total=views]').getByText('1', { exact: true }).waitFor()
  await dashboard.accessible('a report of a page')
  await page.getByRole('link', { name: 'Open page' }).click()
  await page.waitForURL(/tab=live/)
  await page.locator('[data-figure=views]', { hasText: '1' }).waitFor()
  await page.goBack()
  await page.locator('[data-filter="page:/bai-viet"]').waitFor()
  dashboard.fine()
})

test('a custom range is chosen in the calendar', async () => {
  const { page } = dashboard
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  await dashboard.go(`/readers?site=${site}&from=${day(60)}&to=${day(60)}`)
  await page.locator('[data-total=views]').getByText('1,600', { exact: true }).waitFor()
  await page.getByRole('button', { name: /^Date range/ }).click()
  await page.locator(`[data-date="${day(60)}"]`).click()
  await page.locator(`[data-date="${day(60)}"]`).click()
  await page.locator(`[data-range="${day(60)} ${day(60)}"]`).waitFor()
  await dashboard.go(`/readers?site=${site}&from=2020-01-01&to=${day(0)}`)
  await page.getByText('At most 1100 days.').waitFor()
  dashboard.fine()
})

test.each(looks)(
  'the report is accessible in %s at %i px',
  async (...look) => {
    await lookAt(
      browser,
      d,
      look,
      {
        report: `/readers?site=${site}&compare=previous`,
        'report-page': `/readers?site=${site}&filter=${encodeURIComponent('page:/bai-viet')}`,
      },
      {
        report: (page) => page.locator('[data-chart] canvas').waitFor(),
        'report-page': (page) => page.locator('[data-unavailable]').waitFor(),
      },
    )
  },
  240_000,
)

test('goals are declared, reached by a page, and counted', async () => {
  const { page } = dashboard
  await dashboard.go(`/readers?site=${site}&tab=goals`)
  await page.getByText('No goals yet.').waitFor()
  await page.getByRole('button', { name: 'Events and goals' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Events', { exact: true }).fill('signup: plan')
  await dialog.getByLabel('Goals', { exact: true }).fill('Read it = /bai-*')
  await dashboard.accessible('declaring goals')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  const stored = await d.send<{ goals: { name: string }[] }>('GET', `/api/v1/sites/${site}`)
  expect(stored.goals.map((g) => g.name)).toEqual(['Read it'])
  dashboard.fine()
})

test('authors, sections and posts have their own tables', async () => {
  const { page } = dashboard
  for (const [tab, name] of [
    ['authors', 'Authors'],
    ['sections', 'Sections'],
    ['posts', 'Posts'],
  ] as const) {
    await dashboard.go(`/readers?site=${site}&tab=${tab}`)
    await page.getByRole('tab', { name, selected: true }).waitFor()
    await page.locator(`[data-table=${tab}]`).waitFor()
    await dashboard.accessible(name)
  }
  dashboard.fine()
})

test('a link that shares the report works without a login until it is revoked', async () => {
  const { page } = dashboard
  await dashboard.go(`/readers?site=${site}`)
  await page.getByRole('button', { name: 'Share' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Advertisers')
  await dashboard.accessible('sharing a report')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.locator('[data-shared-link=Advertisers]').waitFor()
  const url = (await dialog.locator('pre').innerText()).trim()
  const visitor = await Dashboard.open(browser, d)
  await visitor.page.goto(url)
  await visitor.page.getByRole('heading', { name: 'Advertisers' }).waitFor()
  await visitor.accessible('a shared report')
  await dialog.getByRole('button', { name: 'Revoke “Advertisers”' }).click()
  await dialog.locator('[data-shared-link=Advertisers]').waitFor({ state: 'detached' })
  const response = await visitor.page.goto(url)
  expect(response?.status()).toBeGreaterThanOrEqual(400)
  await visitor.close()
  dashboard.fine()
})

test('recipients of reports are added and removed', async () => {
  const { page } = dashboard
  await dashboard.go(`/readers?site=${site}`)
  await page.getByRole('button', { name: 'Emails and alerts' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Email address').fill('editor@news.example')
  await dialog.getByRole('button', { name: 'Add' }).click()
  await dialog.locator('[data-recipient="editor@news.example"]').waitFor()
  await dashboard.accessible('recipients')
  await dialog.getByRole('button', { name: 'Remove editor@news.example' }).click()
  await dialog.locator('[data-recipient]').waitFor({ state: 'detached' })
  dashboard.fine()
})

test('the statistics of another product are imported and deleted', async () => {
  const { page } = dashboard
  await dashboard.go(`/readers?site=${site}&from=2024-01-30&to=2024-01-30`)
  await page.getByRole('button', { name: 'Import' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('From').click()
  await page.getByRole('option', { name: 'Google Analytics 4' }).click()
  const upload = (text: string) =>
    dialog
      .locator('input[type=file]')
      .setInputFiles({ name: 'total.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
  await upload('date,eventName,sessions\n20240130,click,1\n')
  await dialog.getByRole('alert').waitFor()
  await dashboard.accessible('importing statistics')
  await upload('date,screenPageViews,sessions,totalUsers,engagedSessions\n20240130,4321,50,40,30\n')
  await dialog.locator('[data-import=ga4]').getByText('4,321 views').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('[data-total=views]').getByText('4,321', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Import' }).click()
  await dialog.getByRole('button', { name: /^Delete the import/ }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog.locator('[data-import]').waitFor({ state: 'detached' })
  dashboard.fine()
})

test('the report is in Vietnamese', async () => {
  const visitor = await Dashboard.open(browser, d, { locale: 'vi-VN', viewport: { width: 360, height: 740 } })
  const { page } = visitor
  await page.goto(await d.link())
  await page.getByRole('button', { name: 'Đăng nhập' }).click()
  await page.waitForURL(/\/app\//)
  await visitor.go(`/readers?site=${site}&range=yesterday&compare=year`)
  await page.locator('[data-total=views]').getByText('1.010', { exact: true }).waitFor()
  for (const text of ['Lượt xem', 'Khách truy cập', 'Lượt truy cập', 'Tỷ lệ thoát'])
    await page.locator('[data-total]').getByText(text, { exact: true }).waitFor()
  await page.getByRole('tab', { name: 'Chiến dịch' }).waitFor()
  await visitor.accessible('the report in Vietnamese')
  await shoot(visitor, 'report-vi')
  visitor.fine()
  await visitor.close()
})
