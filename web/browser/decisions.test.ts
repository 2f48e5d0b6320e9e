import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser, Locator, Page } from 'playwright-core'
import { Dateline, Dashboard, sample, shoot, startBrowser, until } from './harness'
import { looks } from './looks'

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard

beforeAll(async () => {
  await d.prepare()
  await d.start()
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
})

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && dashboard) await shoot(dashboard, `failed ${task.name.slice(0, 40)}`)
})

const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const in2Days = () => new Date(Date.now() + 2 * 86_400_000).toISOString()

interface Account {
  id: string
  network: string
  handle: string
  status: string
}
const accounts = async () => (await api<{ accounts: Account[] }>('GET', '/accounts')).accounts

/** The errors in the browser's console while a page loads. */
function errorsOf(page: Page): string[] {
  const errors: string[] = []
  page.on('console', (m) => m.type() === 'error' && errors.push(`${m.text()} ${m.location().url}`))
  page.on('response', (r) => r.status() >= 400 && errors.push(`${r.status()} ${r.url()}`))
  return errors
}

test('a visitor without a session reaches the login page without an error in the console', async () => {
  for (const path of ['/', '/login', '/app/', '/app/accounts', '/login/once/nothing']) {
    dashboard = await Dashboard.open(browser, d)
    const errors = errorsOf(dashboard.page)
    await dashboard.page.goto(d.api + path)
    await dashboard.page.getByRole('heading', { name: 'Log in to Dateline' }).waitFor()
    await dashboard.page.waitForLoadState('networkidle')
    expect(errors, path).toEqual([])
    dashboard.fine()
    await dashboard.close()
  }
})

test.each(looks)(
  'pages outside the dashboard have its design and the language of the reader, in %s at %i px',
  async (colorScheme, width, height) => {
    for (const [locale, title, refused] of [
      ['en-GB', 'Log in to Dateline', 'Please log in again'],
      ['vi-VN', 'Đăng nhập vào Dateline', 'Vui lòng đăng nhập lại'],
    ] as const) {
      const visitor = await Dashboard.open(browser, d, { locale, colorScheme, viewport: { width, height } })
      const look = `${locale.slice(0, 2)}-${colorScheme}-${width < 600 ? 'narrow' : 'wide'}`
      const { page } = visitor
      for (const [path, heading, name] of [
        ['/login', title, 'login'],
        ['/login/once/nothing', title, 'login-once'],
        ['/login/callback', refused, 'login-error'],
      ] as const) {
        await page.goto(d.api + path)
        await page.getByRole('heading', { name: heading }).waitFor()
        expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
          colorScheme === 'dark' ? 'rgb(23, 24, 28)' : 'rgb(247, 248, 250)',
        )
        await visitor.accessible(`${name} ${look}`)
        await shoot(visitor, `${name}-${look}`)
      }
      // The sandbox's consent page and its error page.
      const { authorize_url } = await api<{ authorize_url: string }>('POST', '/accounts/connect', {
        network: 'x',
        sandbox: true,
      })
      await page.goto(authorize_url)
      await page.getByRole('button', { name: locale === 'en-GB' ? 'Allow' : 'Cho phép' }).waitFor()
      await visitor.accessible(`consent ${look}`)
      await shoot(visitor, `consent-${look}`)
      await page.goto(authorize_url.replace(/client_id=[^&]*/, 'client_id=unknown'))
      await page.getByRole('alert').waitFor()
      await visitor.accessible(`consent refused ${look}`)
      await shoot(visitor, `consent-refused-${look}`)
      // The choice of accounts in a browser that is not logged in.
      await page.goto(
        (await api<{ authorize_url: string }>('POST', '/accounts/connect', { network: 'linkedin', sandbox: true }))
          .authorize_url,
      )
      await page.getByRole('button', { name: locale === 'en-GB' ? 'Allow' : 'Cho phép' }).click()
      await page.getByRole('button', { name: locale === 'en-GB' ? 'Connect' : 'Kết nối' }).click()
      await page.getByRole('alert').waitFor() // nothing is selected: the form is shown again
      await visitor.accessible(`choice ${look}`)
      await shoot(visitor, `choice-${look}`)
      visitor.fine()
      await visitor.close()
    }
  },
  120_000,
)

test('after consent the browser returns to the accounts with a notification', async () => {
  dashboard = await Dashboard.open(browser, d)
  await dashboard.login(await d.link())
  const { page } = dashboard
  await dashboard.go('/accounts')
  await page.getByRole('button', { name: 'Connect an account' }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^X/ }).click()
  await page.getByRole('button', { name: 'Continue to authorize' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.waitForURL(/\/app\/accounts$/)
  await page.getByText(/^@\S+ connected\.$/).waitFor()
  await page.locator('[data-account=x]').waitFor()
  dashboard.fine()
})

test('the accounts of a login are chosen in the dashboard, and selecting none shows the form again', async () => {
  const { page } = dashboard
  await dashboard.go('/accounts')
  await page.getByRole('button', { name: 'Connect an account' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^LinkedIn/ })
    .click()
  await page.getByRole('button', { name: 'Continue to authorize' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.waitForURL(/\/app\/accounts\?choice=/)
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Select at least one.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Connect', exact: true }).isEnabled()).toBe(false)
  await dashboard.accessible('choosing accounts')
  await shoot(dashboard, 'choice-dashboard')
  await dialog.getByRole('checkbox').first().check()
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.locator('[data-account=linkedin]').waitFor()
  await page
    .getByText(/connected\.$/)
    .first()
    .waitFor()
  await page.waitForURL(/\/app\/accounts$/)
  dashboard.fine()
})

test('an image added for all is not published where the version has none, unless requested', async () => {
  const { page } = dashboard
  const x = (await accounts()).find((a) => a.network === 'x')!
  const compose = async (words: string) => {
    await dashboard.go('/compose')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill(words)
    const group = page.getByRole('group', { name: 'Publish to' })
    await group.getByText(x.handle, { exact: true }).click()
    await page
      .getByRole('tab')
      .filter({ hasText: new RegExp(`^${x.handle}(Customized)?$`) })
      .click()
    await page.getByRole('switch', { name: /Customize for/ }).check()
    await page.getByRole('textbox', { name: `Text for ${x.handle}` }).fill(`${words} on X`)
    await page.getByRole('tab', { name: 'All networks' }).click()
    await page.locator('input[type=file]').setInputFiles(sample())
    await page.getByRole('dialog', { name: 'Add to customized versions too?' }).waitFor()
  }
  const published = async (words: string) => {
    await page.locator('[data-saving=clean]').waitFor()
    await until('it to be ready', () => page.getByRole('button', { name: 'Publish now' }).isEnabled())
    await page.getByRole('button', { name: 'Publish now' }).click()
    const ask = page.getByRole('dialog', { name: 'Publish now?' })
    await ask.getByText(x.handle).waitFor()
    await dashboard.accessible('publish now')
    await ask.getByRole('button', { name: 'Publish now' }).click()
    await page.waitForURL(/\/posts\//)
    await page.locator('main [data-status=posted]').first().waitFor({ timeout: 60_000 })
    const all = (await (await fetch(`${d.sandbox}/__state/posts`)).json()) as { posts?: Published[] } | Published[]
    const list = Array.isArray(all) ? all : (all.posts ?? [])
    return Object.fromEntries(list.filter((p) => p.text.startsWith(words)).map((p) => [p.text, (p.media ?? []).length]))
  }

  await compose('Without')
  await dashboard.accessible('media for versions')
  await shoot(dashboard, 'media-too')
  await page.getByRole('dialog').getByRole('button', { name: 'Only the main version' }).click()
  await page.locator('[data-switch=mastodon]').click()
  await page
    .locator('[data-preview=mastodon] img:not([data-avatar]), [data-preview=mastodon] [data-media]')
    .first()
    .waitFor()
  await page.locator('[data-switch=x]').click()
  await page.locator('[data-preview=x]').waitFor()
  expect(await page.locator('[data-preview=x] img:not([data-avatar])').count()).toBe(0)
  await page
    .getByRole('tab')
    .filter({ hasText: new RegExp(`^${x.handle}(Customized)?$`) })
    .click()
  await page.getByText('No media on this account.').waitFor()
  await dashboard.accessible('a version without media')
  await shoot(dashboard, 'version-none')
  expect(await published('Without')).toEqual({ Without: 1, 'Without on X': 0 })

  await compose('Together')
  await page.getByRole('dialog').getByRole('button', { name: 'Add to these versions' }).click()
  await page.locator('[data-switch=x]').click()
  await page.locator('[data-preview=x] img:not([data-avatar])').waitFor()
  expect(await published('Together')).toEqual({ Together: 1, 'Together on X': 1 })
  dashboard.fine()
}, 240_000)

interface Published {
  text: string
  media?: unknown[]
}

test('a filter without matches does not claim that nothing is pending', async () => {
  const { page } = dashboard
  await d.faults({
    kind: 'status',
    status: 422,
    method: 'POST',
    path: '/api/v1/statuses',
    body: '{"error":"no"}',
    count: 3,
  })
  const mastodon = (await accounts()).find((a) => a.network === 'mastodon')!
  for (const n of [1, 2, 3])
    await api('POST', '/posts', {
      content: `Refused ${n}`,
      accounts: [mastodon.id],
      scheduled_time: new Date(Date.now() + 2000).toISOString(),
    })
  await until(
    'them to be refused',
    async () => (await api<{ total: number }>('GET', '/dead-letters/counts')).total === 3,
  )
  await d.faults()
  await dashboard.go('/dead-letters?reason=auth&network=x')
  await page.getByText('3 other posts need attention.').waitFor()
  expect(await page.getByText('Nothing needs attention').count()).toBe(0)
  await dashboard.accessible('a filter that matches nothing')
  await shoot(dashboard, 'filter-none')
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.locator('[data-dead]').nth(2).waitFor()
  dashboard.fine()
})

test('reading now counts the last minutes, and readers never exceed views', async () => {
  const { page } = dashboard
  const { site } = await api<{ site: { id: string; write_key: string } }>('POST', '/sites', { name: 'Báo' })
  const view = async (page: string, agent: number) => {
    const answer = await fetch(`${d.api}/v1/view`, {
      method: 'POST',
      body: JSON.stringify({ site: site.write_key, page }),
      headers: {
        'Content-Type': 'application/json',
        'Accept-Language': 'vi',
        'User-Agent': `Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0 203.0.113.${agent}`,
      },
    })
    expect(answer.status).toBe(202)
  }
  for (let agent = 0; agent < 120; agent++) await view('/bai', agent)
  await dashboard.go(`/readers?site=${site.id}&tab=live`)
  await page.getByText('Views in the last 5 minutes').waitFor()
  await page.locator('[data-stream] [data-page="/bai"] [data-number]', { hasText: '120' }).waitFor()
  const number = async (figure: string) =>
    Number((await page.locator(`[data-figure=${figure}]`).textContent())?.replace(/\D/g, ''))
  await until('the readers to be counted', async () => (await number('readers')) > 100)
  expect(await number('readers')).toBeLessThanOrEqual(await number('views'))
  await shoot(dashboard, 'readers-now')
  dashboard.fine()
})

/** A photo with the place where it was taken. */
async function photoWithLocation(page: Page): Promise<Buffer> {
  const encoded = await page.evaluate(() => {
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = 32
    canvas.getContext('2d')?.fillRect(4, 4, 8, 8)
    return canvas.toDataURL('image/jpeg').split(',')[1] ?? ''
  })
  const plain = Buffer.from(encoded, 'base64')
  // TIFF with one directory, which has a directory of GPS fields: latitude N.
  const tiff = Buffer.from(
    '4d4d002a00000008' +
      '0001' +
      '8825000400000001' +
      '0000001a' +
      '00000000' +
      '0001' +
      '0001000200000002' +
      '4e000000' +
      '00000000',
    'hex',
  )
  const content = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff])
  const length = Buffer.alloc(2)
  length.writeUInt16BE(content.length + 2)
  return Buffer.concat([plain.subarray(0, 2), Buffer.from([0xff, 0xe1]), length, content, plain.subarray(2)])
}

test('the library shows that the location of a photo was removed', async () => {
  const { page } = dashboard
  await dashboard.go('/media')
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'with-location.jpg', mimeType: 'image/jpeg', buffer: await photoWithLocation(page) })
  await page.locator('[data-file="with-location.jpg"]').getByText('Location removed').waitFor()
  await page.locator('input[type=file]').setInputFiles(sample())
  await page.locator('[data-file="morning.png"]').first().waitFor()
  expect(await page.locator('[data-file="morning.png"]').getByText('Location removed').count()).toBe(0)
  dashboard.fine()
})

test('irreversible actions need a confirmation', async () => {
  const { page } = dashboard
  /** Opens the dialog by keyboard, cancels it once, and then confirms. */
  const agree = async (title: RegExp, action: string, open: () => Promise<Locator>, undone: () => Promise<boolean>) => {
    const opener = await open()
    const dialog = page.getByRole('dialog', { name: title })
    await dialog.waitFor()
    await page.waitForFunction(() => document.activeElement?.textContent === 'Cancel')
    await dashboard.accessible(String(title))
    await shoot(dashboard, `confirm-${action.toLowerCase().replaceAll(' ', '-')}`)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(await undone(), `${title} left`).toBe(true)
    await until(`the focus to be back where ${title} was opened`, () =>
      opener.evaluate((e) => e === document.activeElement),
    )
    await open()
    await dialog.waitFor()
    await page.waitForFunction(() => document.activeElement?.textContent === 'Cancel')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await until(`${title} to be done`, async () => !(await undone()))
  }
  const menu = async (button: RegExp | string, item: string) => {
    const opener = page.getByRole('button', { name: button, exact: true })
    await opener.press('Enter')
    // The menu takes the focus a moment after it is shown. Before that, it would take it away from the item.
    await page.waitForFunction(() => document.activeElement?.closest('[role=menu]'))
    await page.getByRole('menuitem', { name: item }).press('Enter')
    return opener
  }
  const press = async (name: RegExp | string) => {
    const opener = page.getByRole('button', { name })
    await opener.press('Enter')
    return opener
  }
  const x = (await accounts()).find((a) => a.network === 'x')!

  const post = await api<{ id: string }>('POST', '/posts', {
    content: 'Later',
    accounts: [x.id],
    scheduled_time: in2Days(),
  })
  const status = async (id: string) => (await api<{ status: string }>('GET', `/posts/${id}`)).status
  await dashboard.go(`/posts/${post.id}`)
  await agree(
    /Publish now\?/,
    'Publish now',
    () => menu('More', 'Publish now'),
    async () => (await status(post.id)) === 'scheduled',
  )

  await api('POST', '/members', { email: 'ann@news.example', role: 'author' })
  await dashboard.go('/system?tab=members')
  await page.getByRole('tab', { name: 'Members' }).click()
  const members = async () => (await api<{ members: unknown[] }>('GET', '/members')).members.length
  await agree(
    /Remove .*\?/,
    'Remove',
    () => press(/^Remove /),
    async () => (await members()) === 2,
  )

  await api('POST', '/tokens', { name: 'Import', scopes: ['posts:read'], expires_in_days: 1 })
  const tokens = async () =>
    (await api<{ tokens: { name: string }[] }>('GET', '/tokens')).tokens.some((k) => k.name === 'Import')
  await dashboard.go('/system?tab=tokens')
  await page.getByRole('tab', { name: 'API tokens' }).click()
  await agree(/Revoke Import\?/, 'Revoke', () => press('Revoke Import'), tokens)

  await dashboard.go('/accounts')
  const more = await menu(`More for ${x.handle}`, 'Label and color')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await until('the focus to be back after a dialog that is mounted open', () =>
    more.evaluate((e) => e === document.activeElement),
  )
  await agree(
    /Disconnect .*\?/,
    'Disconnect',
    () => menu(`More for ${x.handle}`, 'Disconnect'),
    async () => (await accounts()).find((a) => a.id === x.id)?.status === 'connected',
  )
  dashboard.fine()
})

test('pages outside the dashboard use its preferences', async () => {
  const { page } = dashboard
  await dashboard.go('/calendar')
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('menuitem', { name: 'Tiếng Việt' }).click()
  await page.getByRole('heading', { name: 'Lịch', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Bạn' }).click()
  await page.getByRole('menuitem', { name: 'Tối' }).click()
  await page.goto(`${d.api}/login`)
  await page.getByRole('heading', { name: 'Bạn đã đăng nhập' }).waitFor()
  expect(await page.locator('html').getAttribute('data-scheme')).toBe('dark')
  await dashboard.accessible('logged in')
  await shoot(dashboard, 'logged-in')
  dashboard.fine()
})

const seen = {
  accounts: '/accounts',
  'dead-letters-filtered': '/dead-letters?reason=auth&network=x',
  readers: '/readers',
  compose: '/compose',
}

test.each(looks)(
  'the changed pages are accessible in Vietnamese, in %s at %i px',
  async (colorScheme, width, height) => {
    const visitor = await Dashboard.open(browser, d, { locale: 'vi-VN', colorScheme, viewport: { width, height } })
    const { page } = visitor
    await page.goto(await d.link())
    await page.getByRole('button', { name: 'Đăng nhập' }).click()
    await page.waitForURL(/\/app\//)
    for (const [name, path] of Object.entries(seen)) {
      await visitor.go(path)
      await page
        .locator('[role=status][aria-label]')
        .first()
        .waitFor({ state: 'detached' })
        .catch(() => undefined)
      await visitor.accessible(`${name} ${colorScheme} ${width}`)
      await shoot(visitor, `vi-${name}-${colorScheme}-${width < 600 ? 'narrow' : 'wide'}`)
    }
    await visitor.go('/accounts')
    await page
      .getByRole('button', { name: /^Thêm cho @desk/ })
      .first()
      .click()
    await page.getByRole('menuitem', { name: 'Ngắt kết nối' }).click()
    await page.getByRole('dialog').waitFor()
    await visitor.accessible(`disconnect ${colorScheme} ${width}`)
    await shoot(visitor, `vi-disconnect-${colorScheme}-${width < 600 ? 'narrow' : 'wide'}`)
    visitor.fine()
    await visitor.close()
  },
  120_000,
)
