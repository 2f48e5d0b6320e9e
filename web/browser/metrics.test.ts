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

interface Part {
  remote_id: string
  state: string
  latest: Record<string, number>
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const part = async (id: string) => (await api<{ parts: Part[] }>('GET', `/posts/${id}/metrics`)).parts[0]

/** Makes the post older: at the network, and for the schedule of readings. */
async function age(hours: number): Promise<void> {
  const answer = await fetch(`${d.sandbox}/__state/age?by=${hours}h`, { method: 'POST' })
  expect(answer.status).toBe(204)
  d.sql(
    `update remote_posts set posted_at = posted_at - interval '${hours} hours'; update post_metrics set due_at = now(), measured_at = measured_at - interval '${hours} hours'`,
  )
}

test('a published post shows the numbers of its network, in the report, too', async () => {
  const { page } = dashboard
  const post = await api<{ id: string }>('POST', '/posts', {
    content: 'Read the news: https://example.com/a',
    scheduled_time: new Date(Date.now() + 2000).toISOString(),
    track_links: true,
  })
  await until(
    'the post to be published',
    async () => (await api<{ status: string }>('GET', `/posts/${post.id}`)).status === 'posted',
  )
  await page.goto(`${d.api}/app/posts/${post.id}`)
  const row = page.locator('[data-metrics-of=mastodon]')
  await row.locator('[data-state=pending]').waitFor()

  await age(2)
  await until('the first reading', async () => ((await part(post.id))?.latest.likes ?? 0) > 0, 150_000)
  await page.reload()
  expect(Number((await row.locator('[data-metric=likes]').innerText()).replace(/\D/g, ''))).toBeGreaterThan(0)
  expect(await row.locator('[data-metric=views]').count()).toBe(0) // Mastodon does not report views
  await dashboard.accessible('metrics of a post')

  d.sql(`update remote_posts set posted_at = now() - interval '1 hour'`)
  await page.getByRole('link', { name: 'Readers', exact: true }).click()
  await page
    .getByRole('button', { name: /posts/i })
    .or(page.getByRole('heading', { name: 'What worked' }))
    .first()
    .click()
  const report = page.locator('[data-post-report=post]')
  await report.locator(`[data-post="${post.id}"]`).waitFor()
  expect(await report.locator('[data-number=engagement]').first().innerText()).toMatch(/\d/)
  expect(await report.locator('[data-number=views]').first().innerText()).toBe('–')
  expect(await report.locator('[data-number=clicks]').first().innerText()).toBe('0')
  await page.getByText('No clear differences among 1 post.').waitFor()
  await dashboard.accessible('the report of posts')
  dashboard.fine()
})
