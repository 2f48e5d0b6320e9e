import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'

// What is shown says what it is, and what could not be fetched is not shown as absent.

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard

const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)

beforeAll(async () => {
  await d.prepare()
  await d.start()
  browser = await startBrowser()
  dashboard = await Dashboard.open(browser, d, { viewport: { width: 1440, height: 900 } })
  await dashboard.login(d.login)
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
})
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && dashboard) await shoot(dashboard, `failed ${task.name.slice(0, 40)}`)
})

test('settings can be saved only when they were changed', async () => {
  const { page } = dashboard
  await api('POST', '/sites', { name: 'Báo Mai', domains: ['bao-mai.example'], time_zone: 'Asia/Ho_Chi_Minh' })
  for (const [path, field] of [
    ['/settings?tab=sites', 'Name'],
    ['/settings?tab=workspace', 'Name of the workspace'],
  ] as const) {
    await dashboard.go(path)
    const save = page.getByRole('button', { name: 'Save', exact: true }).first()
    await save.waitFor()
    expect(await save.isDisabled(), path).toBe(true)
    const name = page.getByRole('textbox', { name: field }).first()
    const before = await name.inputValue()
    await name.fill(`${before} 2`)
    expect(await save.isDisabled(), path).toBe(false)
    await name.fill(before)
    expect(await save.isDisabled(), path).toBe(true)
    await dashboard.accessible(path)
  }
  dashboard.fine()
})

test('webhooks name their events as the rest of the dashboard does', async () => {
  const { page } = dashboard
  await api('POST', '/webhooks', { url: `${d.sandbox}/hook`, types: ['post.failed', 'account.needs_reconnect'] })
  await dashboard.go('/system?tab=webhooks')
  const hook = page.getByRole('article').first()
  await hook.getByText('Failed', { exact: true }).waitFor()
  await hook.getByText('Account needs to be reconnected').waitFor()
  expect(await hook.getByText(/^(post|account)\./).count()).toBe(0)
  await page.getByRole('combobox', { name: 'Events' }).click()
  await page.getByRole('option', { name: 'Watched page changed' }).waitFor()
  await page.keyboard.press('Escape')
  await dashboard.accessible('webhooks')
  await shoot(dashboard, 'webhooks')
  dashboard.fine()
})

test('the price of a post says which network charges it', async () => {
  const { page } = dashboard
  const { authorize_url } = await api<{ authorize_url: string }>('POST', '/accounts/connect', {
    network: 'x',
    sandbox: true,
  })
  await page.goto(authorize_url)
  await page.getByRole('button', { name: 'Allow' }).click()
  let x = ''
  await until('the account', async () => {
    const { accounts } = await api<{ accounts: { id: string; network: string }[] }>('GET', '/accounts')
    x = accounts.find((a) => a.network === 'x')?.id ?? ''
    return x !== ''
  })
  const { id } = await api<{ id: string }>('POST', '/posts', { content: 'Mưa lớn ở Huế', accounts: [x], draft: true })
  await dashboard.go(`/compose?id=${id}`)
  await page
    .locator('[data-preview=x]')
    .getByText(/^X charges about \$0\.\d+\.$/)
    .waitFor()
  await dashboard.accessible('a price')
  dashboard.fine()
})
