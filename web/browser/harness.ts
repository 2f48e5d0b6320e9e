import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'

const root = new URL('../..', import.meta.url).pathname
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Below the ephemeral ports: an outgoing connection could take one of those before the program listens. */
async function freePort(): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 22_000)
  const free = await new Promise<boolean>((done) => {
    const server = createServer()
    server.once('error', () => done(false))
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)))
  })
  return free ? port : freePort()
}

/** The real program with engines and a data directory of its own. */
export class Dateline {
  api = ''
  login = ''
  token = ''
  sandbox = ''
  /** The bucket's URL, to which pages upload large files. */
  bucket = ''
  private child: ChildProcess | undefined
  private readonly dir = mkdtempSync(join(tmpdir(), 'dateline-web-'))
  private env: Record<string, string> = {}
  private log = ''

  /** env: additional settings. */
  async prepare(env: Record<string, string> = {}): Promise<void> {
    chmodSync(this.dir, 0o755) // as root, the program switches to another user
    const port = async () => String(await freePort())
    this.env = {
      DATELINE_DATA_DIR: join(this.dir, 'data'),
      DATELINE_API_ADDR: `127.0.0.1:${await port()}`,
      DATELINE_SANDBOX_ADDR: `127.0.0.1:${await port()}`,
      DATELINE_METRICS_ADDR: 'off',
      DATELINE_TEMPORAL_PORT: await port(),
      DATELINE_TEMPORAL_UI_PORT: await port(),
      DATELINE_POSTGRES_PORT: await port(),
      DATELINE_REDIS_PORT: await port(),
      DATELINE_S3_PORT: await port(),
      ...env,
    }
    this.bucket = `http://127.0.0.1:${this.env.DATELINE_S3_PORT}`
  }

  async start(...args: string[]): Promise<void> {
    const child = spawn(join(root, 'bin/dateline'), ['up', ...args], {
      cwd: root,
      env: { ...process.env, ...this.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child = child
    let said = ''
    child.stderr.on('data', (d: Buffer) => (this.log += d.toString()))
    await new Promise<void>((done, failed) => {
      child.once('error', failed)
      child.once('exit', (code) => failed(new Error(`dateline ended with ${code}\n${said}\n${this.log}`)))
      child.stdout.on('data', (d: Buffer) => {
        said += d.toString()
        this.log += d.toString()
        if (said.includes('Stop with')) done()
      })
    })
    const find = (pattern: RegExp) => pattern.exec(said)?.[1] ?? ''
    this.api = find(/API\s+(http:\/\/\S+)\/api\/v1/)
    this.login = find(/Login\s+(http:\/\/\S+)/)
    this.token = find(/API token\s+(dl_\S+)/) || this.token
    this.sandbox = find(/Sandbox\s+(http:\/\/\S+)/).replace(/\/$/, '')
    await until('the program to be ready', async () => (await fetch(`${this.api}/readyz`)).ok)
  }

  async stop(): Promise<void> {
    const { child } = this
    this.child = undefined
    if (!child || child.exitCode !== null) return
    const ended = new Promise((done) => child.once('exit', done))
    child.kill('SIGINT')
    await ended
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.dir, { recursive: true, force: true })
  }

  /** Sends a request with an API token and returns the response's body. */
  async send<T = Record<string, never>>(method: string, path: string, body?: unknown, token = this.token): Promise<T> {
    const answer = await fetch(this.api + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /** Makes the sandbox's networks fail. */
  async faults(...faults: object[]): Promise<void> {
    const answer =
      faults.length === 0
        ? await fetch(`${this.sandbox}/__faults`, { method: 'DELETE' })
        : await fetch(`${this.sandbox}/__faults`, { method: 'PUT', body: JSON.stringify(faults) })
    if (!answer.ok) throw new Error(await answer.text())
  }

  /** Changes the database directly: states that a test cannot reach with the API in time. */
  sql(statement: string): void {
    const data = join(this.dir, 'data')
    const port = readFileSync(join(data, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[3] ?? ''
    const folder =
      readdirSync('/usr/lib/postgresql')
        .map((v) => `/usr/lib/postgresql/${v}/bin/psql`)
        .find(existsSync) ?? 'psql'
    execFileSync(
      folder,
      [
        '-qXw',
        '-v',
        'ON_ERROR_STOP=1',
        '-h',
        '127.0.0.1',
        '-p',
        port,
        '-U',
        'dateline',
        '-d',
        'dateline',
        '-c',
        statement,
      ],
      {
        env: { ...process.env, PGPASSWORD: readFileSync(join(data, 'secrets', 'postgres'), 'utf8').trim() },
      },
    )
  }

  /**
   * Runs a schedule until the check holds. Once is not enough: Temporal skips a run while another one is in progress,
   * which may have looked before the state that the test waits for.
   */
  async runUntil(schedule: string, what: string, check: () => Promise<boolean> | boolean): Promise<void> {
    let next = 0
    await until(what, async () => {
      if (Date.now() >= next) {
        await this.run(schedule)
        next = Date.now() + 2000
      }
      return check()
    })
  }

  private async run(schedule: string): Promise<void> {
    const answer = await fetch(
      `http://127.0.0.1:${this.env.DATELINE_TEMPORAL_UI_PORT}/api/v1/namespaces/default/schedules/${schedule}/patch`,
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Cookie: '_csrf=test', 'X-CSRF-Token': 'test' },
        body: JSON.stringify({ patch: { triggerImmediately: {} } }),
      },
    )
    if (!answer.ok) throw new Error(await answer.text())
  }

  /** A new link to log in with. */
  async link(): Promise<string> {
    const child = spawn(join(root, 'bin/dateline'), ['login-link'], {
      cwd: root,
      env: { ...process.env, ...this.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    child.stdout.on('data', (d: Buffer) => (said += d.toString()))
    await new Promise((done) => child.once('exit', done))
    return said.trim()
  }
}

/** The default timeout is longer than the minute between two runs of a schedule. */
export async function until(what: string, check: () => Promise<boolean> | boolean, timeout = 100_000): Promise<void> {
  const end = Date.now() + timeout
  let failure: unknown
  for (;;) {
    try {
      if (await check()) return
    } catch (e) {
      failure = e
    }
    if (Date.now() > end) throw new Error(`timed out waiting for ${what}`, { cause: failure })
    await new Promise((done) => setTimeout(done, 100))
  }
}

export async function startBrowser(): Promise<Browser> {
  const paths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  const executablePath = process.env.CHROMIUM || paths.find(existsSync)
  if (!executablePath) throw new Error('Chromium is not installed (on Debian: apt-get install chromium)')
  // Containers lack what the browser's sandbox needs, and root may not have one. The tests
  // open only this program's pages.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
}

/** A browser's window, with checks for errors that must not happen. */
export class Dashboard {
  readonly wrong: string[] = []
  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly home: string,
  ) {}

  static async open(
    browser: Browser,
    d: Dateline,
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<Dashboard> {
    const context = await browser.newContext({
      locale: 'en-GB',
      viewport: { width: 1280, height: 900 },
      timezoneId: 'Europe/Paris',
      reducedMotion: 'reduce',
      ...options,
    })
    context.setDefaultTimeout(30_000)
    const dashboard = new Dashboard(context, await context.newPage(), d.api)
    dashboard.watch(d)
    return dashboard
  }

  private watch(d: Dateline): void {
    const own = new Set([new URL(d.api).host, new URL(d.sandbox).host, new URL(d.bucket).host])
    this.page.on('pageerror', (e) => this.wrong.push(`error: ${e.message}`))
    this.page.on('console', (m) => {
      if (/content.security.policy|refused to/i.test(m.text())) this.wrong.push(m.text())
    })
    this.page.on('request', (r) => {
      const url = new URL(r.url())
      if (url.protocol.startsWith('http') && !own.has(url.host)) this.wrong.push(`a request to ${url.host}`)
    })
  }

  async login(link: string): Promise<void> {
    await this.page.goto(link)
    await this.page.getByRole('button', { name: 'Log in' }).click()
    await this.page.waitForURL(/\/app\//)
    await this.live()
  }

  async go(path: string): Promise<void> {
    await this.page.goto(`${this.home}/app${path}`)
    await this.page.locator('h1').first().waitFor()
  }

  /** Waits until the event stream is connected. */
  async live(): Promise<void> {
    await this.page.locator('[data-live=live]').waitFor()
  }

  /** Reads the CPU time of the page's main thread in milliseconds: other load on the machine does not count. */
  async mainThread(): Promise<() => Promise<number>> {
    const cdp = await this.context.newCDPSession(this.page)
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
    return async () =>
      ((await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration')?.value ?? 0) * 1000
  }

  /** Checks that there was no violation of the policy, no request to another host, and no error so far. */
  fine(): void {
    expect(this.wrong).toEqual([])
  }

  /** The serious findings of axe-core on the page, and its width beyond the window. */
  async barriers(): Promise<string[]> {
    await this.page.evaluate(axe)
    return this.page.evaluate(async () => {
      const run = (
        globalThis as unknown as {
          axe: {
            run(o: object): Promise<{
              violations: {
                id: string
                impact: string
                nodes: { html: string; target: string[]; failureSummary: string }[]
              }[]
            }>
          }
        }
      ).axe
      const { violations } = await run.run({
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      })
      // Simultaneous posts are drawn side by side, however narrow; the list shows all of them at full size, which
      // 2.5.8 allows ("equivalent").
      const inCalendar = (n: { target: string[] }) =>
        document.querySelector(n.target[0] ?? '')?.closest('[data-calendar]')
      for (const v of violations) if (v.id === 'target-size') v.nodes = v.nodes.filter((n) => !inCalendar(n))
      const found = violations
        .filter((v) => v.nodes.length > 0 && (v.impact === 'serious' || v.impact === 'critical'))
        .map(
          (v) =>
            `${v.id}: ${v.nodes
              .slice(0, 3)
              .map((n) => `${n.html.slice(0, 160)} ${n.failureSummary}`)
              .join(' | ')}`,
        )
      const over = document.documentElement.scrollWidth - document.documentElement.clientWidth
      return over > 0 ? [...found, `${over} px wider than the window`] : found
    })
  }

  /**
   * Expects no serious findings. axe-core reads colors and states one after the other: of a button that gets enabled
   * meanwhile it sees the colors of a disabled one. Such findings are gone when the page is read again.
   */
  async accessible(where: string): Promise<void> {
    if ((await this.barriers()).length === 0) return
    await this.page.waitForTimeout(500)
    expect(await this.barriers(), where).toEqual([])
  }

  async close(): Promise<void> {
    await this.context.close()
  }
}

/** The path of a screenshot; they are taken if SCREENSHOTS names a folder. */
export async function shoot(dashboard: Dashboard, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (folder) await dashboard.page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
}

export const sample = () => {
  const folder = join(root, 'web/browser/files')
  return readdirSync(folder).map((f) => join(folder, f))[0] ?? ''
}
