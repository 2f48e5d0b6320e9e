import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard, Dateline, startBrowser, until } from './harness'

// The pictures of the documentation, taken from the demo by `make screenshots`.
const folder = process.env.PICTURES ?? ''

const zone = 'Asia/Ho_Chi_Minh'
const viewport = { width: 1180, height: 740 }

describe.runIf(folder !== '')('pictures', () => {
  const d = new Dateline()
  let browser: Browser
  let demo = ''

  /** A window of the demo whose clock stands still, so that all pictures show the same moment. */
  async function open(locale: 'en-GB' | 'vi-VN', options: { moves?: boolean; narrow?: boolean } = {}) {
    const dashboard = await Dashboard.open(browser, d, {
      locale,
      timezoneId: zone,
      viewport: options.narrow ? { width: 390, height: 780 } : viewport,
    })
    const { page } = dashboard
    await page.goto(`${await d.link()}?workspace=${demo}`)
    await page.locator('form button').click()
    await page.waitForURL(/\/app\//)
    await dashboard.live()
    if (!options.moves) await page.clock.setFixedTime(new Date())
    return dashboard
  }

  async function take(
    dashboard: Dashboard,
    name: string,
    path: string,
    ready: string,
    before?: (page: Page) => Promise<void>,
  ) {
    const { page } = dashboard
    await dashboard.go(path)
    await page.locator(ready).first().waitFor()
    await page.locator('[role=status][aria-label^=Loading]').first().waitFor({ state: 'detached' })
    await before?.(page)
    await page.waitForTimeout(700) // for pictures of accounts and the end of transitions
    await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
  }

  beforeAll(async () => {
    browser = await startBrowser()
    await d.prepare({ DATELINE_CRAWL_DELAY: '100ms' })
    await d.start('--demo')
    const { workspaces } = await d.send<{ workspaces: { workspace: { id: string; name: string } }[] }>(
      'GET',
      '/api/v1/workspaces',
    )
    demo = workspaces.find((w) => w.workspace.name === 'Demo')?.workspace.id ?? ''
    const dashboard = await open('en-GB', { moves: true })
    const lists = async (path: string, field: string) =>
      ((await (await dashboard.page.request.get(`${d.api}/api/v1${path}`)).json())[field] as unknown[]).length
    await until('the story of all sites', async () => (await lists('/stories?min_owners=3', 'stories')) > 1, 240_000)
    await until('the dead letters', async () => (await lists('/dead-letters', 'dead_letters')) > 1, 240_000)
    const day = (from: number) => new Date(Date.now() + from * 86_400_000).toISOString().slice(0, 10)
    const report = `/reports/posts?from=${day(-2)}&to=${day(1)}`
    await until('the report of posts', async () => (await lists(report, 'rows')) > 8, 240_000)
    await dashboard.close()
    // Numbers of posts are read after a minute and grow.
    await new Promise((done) => setTimeout(done, 60_000))
  }, 900_000)

  afterAll(async () => {
    await browser.close()
    await d.remove()
  })

  /** Scrolls to an element, as far below the top as the frame of the page covers. */
  const reveal = (selector: string) => (page: Page) =>
    page
      .locator(selector)
      .first()
      .evaluate((e) => scrollTo({ top: e.getBoundingClientRect().top + scrollY - 90 }))
  const chart = reveal('main [aria-pressed], main .uplot')
  const week = () => `/calendar?view=week&date=${new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)}`

  test.each<[string, string, string, ((page: Page) => Promise<void>)?]>([
    ['calendar', 'week', '[data-calendar]'],
    ['compose', 'post', '[data-preview]'],
    ['approvals', '/approvals', '[data-approval]'],
    ['dead-letters', '/dead-letters', '[data-dead]'],
    ['readers', '/readers', 'main .uplot', chart],
    ['posts-report', '/readers?tab=posts', 'main table', reveal('main table')],
    ['stories', '/news/stories?owners=2', '[data-story]'],
    ['rules', '/rules', 'main h1'],
  ])('%s', async (name, path, ready, before) => {
    const dashboard = await open('en-GB')
    const { posts } = (await (
      await dashboard.page.request.get(`${d.api}/api/v1/posts?status=scheduled&order=asc&limit=50`)
    ).json()) as { posts: { id: string; attachments: unknown[] }[] }
    const edited = `/compose?id=${posts.find((p) => p.attachments.length > 0)?.id}`
    await take(dashboard, name, path === 'week' ? week() : path === 'post' ? edited : path, ready, before)
    await dashboard.close()
  })

  test.each<[string, string, string, ((page: Page) => Promise<void>)?]>([
    ['lich', 'week', '[data-calendar]'],
    ['doc-gia', '/readers', 'main .uplot', chart],
    ['tin-tuc', '/news', 'main h1'],
    ['bai-can-xu-ly', '/dead-letters', '[data-dead]'],
  ])('%s', async (name, path, ready, before) => {
    const dashboard = await open('vi-VN')
    await take(dashboard, name, path === 'week' ? week() : path, ready, before)
    await dashboard.close()
  })

  // Written, out on its second on three networks, readers arrive, and the row from impression to reading.
  test('the moving picture', async () => {
    const dashboard = await open('en-GB', { moves: true })
    const { page } = dashboard
    const request = async <T>(method: string, path: string, data?: unknown) =>
      (await (
        await page.request.fetch(`${d.api}/api/v1${path}`, { method, data, headers: { Origin: d.api } })
      ).json()) as T
    const { accounts } = await request<{ accounts: { id: string; network: string; handle: string }[] }>(
      'GET',
      '/accounts',
    )
    const chosen = ['mastodon', 'bluesky', 'threads'].map(
      (network) => accounts.find((a) => a.network === network && !a.handle.includes('bulletin'))?.id,
    )
    const { links } = await request<{ links: { url: string }[] }>('GET', '/links')
    const due = new Date(Math.ceil((Date.now() + 45_000) / 60_000) * 60_000) // the composer knows minutes
    const post = await request<{ id: string }>('POST', '/posts', {
      content: 'Flood on the Thu River:',
      accounts: chosen,
      draft: true,
      track_links: true,
      scheduled_time: due.toISOString(),
    })
    await dashboard.go(`/compose?id=${post.id}`)
    const text = page.getByRole('textbox', { name: 'Text', exact: true })
    await text.click()
    await page.keyboard.press('End')
    const film = await Film.of(page)
    await page.keyboard.type(' five shelters are open tonight.\n\n', { delay: 5 })
    await page.keyboard.insertText(
      links.find((l) => l.url.startsWith('https://bao-mai.test/'))?.url.split('?')[0] ?? 'https://bao-mai.test/',
    )
    await page.locator('[data-saving=clean]').waitFor()
    await page.waitForTimeout(600)
    const status = async () => (await request<{ status: string }>('GET', `/posts/${post.id}`)).status
    await page.getByRole('button', { name: 'Schedule', exact: true }).click()
    await until('the post to be scheduled', async () => (await status()) === 'scheduled', 30_000)
    await page.waitForTimeout(500)
    film.pause()
    await dashboard.go(`/posts/${post.id}`)
    await page.waitForTimeout(Math.max(0, due.getTime() - Date.now() - 2500))
    await film.resume(page)
    await until('the post to be published', async () => (await status()) === 'posted', 90_000)
    await page.waitForTimeout(2500)
    film.pause()
    // Readers follow the links, and the network is asked for its numbers after a minute.
    await page.waitForTimeout(75_000)
    await dashboard.go('/readers?tab=live')
    await page.waitForTimeout(1500)
    await film.resume(page)
    await page.waitForTimeout(4000)
    film.pause()
    await dashboard.go('/readers?tab=posts')
    await page.locator('main table').first().waitFor()
    await page.waitForTimeout(800)
    await film.resume(page)
    await page.waitForTimeout(500)
    await reveal('main table')(page)
    await page.waitForTimeout(4500)
    await film.save(join(folder, 'demo.gif'))
    await dashboard.close()
    expect(statSync(join(folder, 'demo.gif')).size).toBeLessThan(2_000_000)
  }, 600_000)
})

/** Records what a page shows. */
class Film {
  private readonly frames: { at: number; png: Buffer }[] = []
  private rolling = true
  private skipped = 0
  private paused = 0

  static async of(page: Page): Promise<Film> {
    const film = new Film()
    const cdp = await page.context().newCDPSession(page)
    cdp.on('Page.screencastFrame', ({ data, sessionId }) => {
      film.add(Buffer.from(data, 'base64'))
      void cdp.send('Page.screencastFrameAck', { sessionId }).catch(() => undefined)
    })
    await cdp.send('Page.startScreencast', { format: 'png', maxWidth: viewport.width, maxHeight: viewport.height })
    return film
  }

  private add(png: Buffer) {
    if (this.rolling) this.frames.push({ at: Date.now() - this.skipped, png })
  }

  pause() {
    this.rolling = false
    this.paused = Date.now()
  }

  /** Continues with what the page shows now: the browser only sends frames of what changes. */
  async resume(page: Page): Promise<void> {
    const png = await page.screenshot()
    this.skipped += Date.now() - this.paused
    this.rolling = true
    this.add(png)
  }

  /** Writes the frames with their durations as a GIF with one palette. */
  async save(file: string): Promise<void> {
    const end = Date.now() - this.skipped
    const dir = mkdtempSync(join(tmpdir(), 'film-'))
    const list = this.frames.map(({ at, png }, i) => {
      const name = join(dir, `${String(i).padStart(5, '0')}.png`)
      writeFileSync(name, png)
      const next = this.frames[i + 1]?.at ?? end
      return `file '${name}'\nduration ${((next - at) / 1000).toFixed(3)}`
    })
    // ffmpeg ignores the duration of the last file, so that it is named again.
    writeFileSync(join(dir, 'list.txt'), `${[...list, list.at(-1)].join('\n')}\n`)
    execFileSync('ffmpeg', [
      ...['-loglevel', 'error', '-y', '-f', 'concat', '-safe', '0', '-i', join(dir, 'list.txt')],
      '-lavfi',
      'fps=8,scale=900:-1:flags=lanczos,split[a][b];[a]palettegen=max_colors=96:stats_mode=full[p];[b][p]paletteuse=dither=none:diff_mode=rectangle',
      ...['-t', '20', file],
    ])
    rmSync(dir, { recursive: true })
  }
}
