import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser, CDPSession } from 'playwright-core'
import { Dateline, Dashboard, startBrowser } from './harness'

// How long the dashboard takes for what editors do all day, with much to show: SPEED=1 prints it. Other load on the
// machine counts as time but hardly as the page's own CPU time, which is printed beside it and is what is compared. The
// goals are 50 ms for a key and 300 ms for a month, on a machine without other load.

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard
let cdp: CDPSession
const accounts: string[] = []

const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const isMeasured = !!process.env.SPEED

beforeAll(async () => {
  if (!isMeasured) return
  await d.prepare()
  await d.start()
  browser = await startBrowser()
  dashboard = await Dashboard.open(browser, d, { viewport: { width: 1440, height: 900 } })
  await dashboard.login(d.login)
  cdp = await dashboard.context.newCDPSession(dashboard.page)
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  // Ten accounts: copies of those of the sandbox.
  d.sql(`
    do $$
    begin
      for i in 1..9 loop
        create temp table copies as select * from accounts order by created_at limit 1;
        update copies set id = gen_random_uuid(), remote_id = remote_id || '-' || i, handle = handle || i, is_default = true;
        insert into accounts select * from copies where (select count(*) from accounts) < 10;
        drop table copies;
      end loop;
    end $$`)
  accounts.push(...(await api<{ accounts: { id: string }[] }>('GET', '/accounts')).accounts.map((a) => a.id))
  expect(accounts.length).toBe(10)
})
afterAll(async () => {
  await browser?.close()
  if (isMeasured) await d.remove()
})

/** The CPU time of the page so far, in milliseconds. */
async function used(): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics')
  return 1000 * (metrics.find((m) => m.name === 'TaskDuration')?.value ?? 0)
}

const quantile = (all: number[], q: number) => [...all].sort((a, b) => a - b)[Math.ceil(all.length * q) - 1] ?? 0
const say = (what: string, ms: number[]) =>
  console.log(
    `${what}: p50 ${quantile(ms, 0.5).toFixed(1)} ms, p95 ${quantile(ms, 0.95).toFixed(1)} ms (n = ${ms.length})`,
  )

test.runIf(isMeasured)(
  'a key in the composer is painted soon, with ten parts and ten accounts',
  async () => {
    const { page } = dashboard
    const { id } = await api<{ id: string }>('POST', '/posts', {
      content: 'Nước sông dâng cao: hàng trăm hộ dân được di dời trong đêm. https://news.example/nuoc-song #mualu',
      thread: Array.from({ length: 9 }, (_, i) => ({ content: `Phần ${i + 2}: cập nhật từ các xã ven sông, @desk` })),
      accounts,
      draft: true,
    })
    await dashboard.go(`/compose?id=${id}`)
    const fields = page.getByRole('textbox', { name: /^(Text|Part)/ })
    const text = page.locator('[data-part="5"]')
    await text.waitFor()
    expect(await fields.count()).toBeGreaterThan(0)
    await page.locator('[data-preview]').first().waitFor()
    await text.focus()
    await page.waitForTimeout(2000)
    const painted: number[] = []
    const cpu: number[] = []
    for (const key of 'mua lon keo dai khien muc nuoc len nhanh, nhieu tuyen duong bi chia cat ') {
      const before = await used()
      await page.evaluate(() => {
        const at = { pressed: 0, painted: 0 }
        Object.assign(globalThis, { speed: at })
        document.addEventListener('keydown', (e) => (at.pressed = e.timeStamp), { once: true, capture: true })
        document.addEventListener(
          'input',
          () => requestAnimationFrame(() => setTimeout(() => (at.painted = performance.now()))),
          { once: true, capture: true },
        )
      })
      await page.keyboard.press(key === ' ' ? 'Space' : key)
      const took = await page.waitForFunction(() => {
        const { speed } = globalThis as unknown as { speed: { pressed: number; painted: number } }
        return speed.painted && speed.pressed ? speed.painted - speed.pressed : false
      })
      painted.push((await took.jsonValue()) || 0)
      cpu.push((await used()) - before)
      await page.waitForTimeout(60)
    }
    say('key to paint, time', painted)
    say('key to paint, CPU time', cpu)
  },
  300_000,
)

test.runIf(isMeasured)(
  'a month of 1,000 posts opens soon',
  async () => {
    const { page } = dashboard
    const first = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 1, 0))
    const lots = Array.from({ length: 1000 }, (_, i) => new Date(first.getTime() + i * 40 * 60_000).toISOString())
    for (let i = 0; i < lots.length; i += 20)
      await Promise.all(
        lots.slice(i, i + 20).map((at, n) =>
          api('POST', '/posts', {
            content: `Bản tin ${i + n}: thời tiết và giao thông`,
            accounts: accounts.slice(0, 1),
            scheduled_time: at,
          }),
        ),
      )
    const month = first.toISOString().slice(0, 10)
    await dashboard.go(`/calendar?view=queue&date=${month}`)
    const time: number[] = []
    const cpu: number[] = []
    for (let i = 0; i < 12; i++) {
      await page.getByText('Queue', { exact: true }).first().click()
      await page.locator('[data-calendar]').waitFor({ state: 'detached' })
      await page.waitForTimeout(800)
      const before = await used()
      const began = await page.evaluate(() => performance.now())
      await page.getByText('Month', { exact: true }).first().click()
      await page.locator('[data-calendar=month] [data-post]').first().waitFor()
      const ended = await page.evaluate(
        () => new Promise<number>((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now())))),
      )
      time.push(ended - began)
      cpu.push((await used()) - before)
    }
    const posts = await page.locator('[data-calendar=month] [data-post]').count()
    expect(posts).toBeGreaterThan(50)
    say('open a month, time', time.slice(2))
    say('open a month, CPU time', cpu.slice(2))
  },
  600_000,
)
