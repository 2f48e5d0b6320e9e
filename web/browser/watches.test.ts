import { createServer, type Server } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'
import { Receiver } from './receiver'

const d = new Dateline()
const receiver = new Receiver()
let browser: Browser
let dashboard: Dashboard
let site: Server
let address = ''
let region = ''
let visits = 0

beforeAll(async () => {
  site = createServer((request, answer) => {
    if (request.url !== '/prices') return void answer.writeHead(404).end()
    // What is outside of the region changes with each visit.
    answer
      .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
      .end(`<!doctype html><title>Giá</title><p>Lượt xem: ${++visits}</p>${region}`)
  })
  await new Promise<void>((done) => site.listen(0, '127.0.0.1', done))
  const at = site.address()
  address = `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}`
  await receiver.listen()
  await d.prepare({
    DATELINE_ALLOW_PRIVATE_HOSTS: `${new URL(address).host},${new URL(receiver.address).host}`,
    DATELINE_CRAWL_DELAY: '100ms',
  })
  await d.start()
  browser = await startBrowser()
  dashboard = await Dashboard.open(browser, d)
  await dashboard.login(d.login)
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
  receiver.close()
  site?.closeAllConnections()
  site?.close()
})
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && dashboard) await shoot(dashboard, `failed ${task.name.slice(0, 40)}`)
})

const alerts = () => receiver.got.filter((e) => e.type === 'page.changed')

test('a region of a page is watched by selector, with a diff and an alert of each change', async () => {
  const { page } = dashboard
  region = '<table id="prices"><tr><td>Xăng RON 95: 21.500</td></tr><tr><td>Dầu: 18.200</td></tr></table>'
  await d.send('POST', '/api/v1/webhooks', { url: receiver.address, types: ['page.changed'] })
  await page.getByRole('link', { name: 'News', exact: true }).click()
  await page.getByRole('link', { name: 'Watched pages', exact: true }).click()
  await page.getByText('No watched pages', { exact: true }).waitFor()
  await dashboard.accessible('no watched pages')

  await page.getByRole('button', { name: 'Watch a page' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Giá xăng')
  await dialog.getByLabel('Address of the page').fill(`${address}/prices`)
  await dialog.getByLabel('Region (CSS selector)').fill('table[')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Region (CSS selector)').fill('#prices')
  await dashboard.accessible('the editor of a watched page')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const card = page.locator('[data-watch="Giá xăng"]')
  await card.waitFor()

  // The first check stores the region and alerts of nothing.
  const text = card.getByRole('button', { name: 'Current text' })
  await until('the first check', async () => text.isEnabled(), 150_000)
  await text.click()
  await card.getByText('Dầu: 18.200').waitFor()
  expect(alerts()).toHaveLength(0)

  region = region.replace('21.500', '22.100')
  await card.getByRole('button', { name: 'Check now' }).click()
  await until('the alert', () => alerts().length > 0, 150_000)
  await card.getByRole('button', { name: '1 change' }).click()
  const change = card.locator('[data-change]')
  await change.getByText('Xăng RON 95: 22.100').waitFor()
  await change.getByText('Xăng RON 95: 21.500').waitFor()
  expect(await change.getByText('Dầu').count()).toBe(0)
  expect(alerts()).toHaveLength(1)
  await dashboard.accessible('the changes of a watched page')
  await shoot(dashboard, 'watched pages')

  await card.getByRole('button', { name: 'Pause' }).click()
  await card.getByText('Paused', { exact: true }).waitFor()
  expect(await card.getByRole('button', { name: 'Check now' }).isDisabled()).toBe(true)
  expect(dashboard.wrong).toEqual([])
}, 400_000) // a check starts within a minute
