import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'

// Members without a login provider: owners invite them with links.

const d = new Dateline()
let browser: Browser
let dashboard: Dashboard

const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)

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

test('a person joins with a copied link, without an email or a login provider', async () => {
  const { page } = dashboard
  await dashboard.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await dashboard.go('/system?tab=members')
  await page.getByLabel('Email address').fill('lan@news.example')
  await page.getByLabel('Role', { exact: true }).selectOption('editor')
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const shown = page.locator('[data-login-link]')
  await shown.waitFor()
  await dashboard.accessible('an invitation link')
  await shoot(dashboard, 'invitation-link')
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const link = await page.evaluate(() => navigator.clipboard.readText())
  expect(link).toMatch(/\/login\/invitation\/[\w-]{43}$/)

  const invited = await Dashboard.open(browser, d, { locale: 'vi-VN' })
  await invited.page.goto(link)
  await invited.accessible('the page of an invitation')
  await shoot(invited, 'invitation-page-vi')
  await invited.page.getByLabel('Tên của bạn').fill('Nguyễn Thị Lan')
  await invited.page.getByRole('button', { name: 'Tham gia' }).click()
  await invited.page.waitForURL(/\/app\//)
  await invited.live()
  invited.fine()

  await dashboard.go('/system?tab=members')
  const row = page.locator('[data-member="lan@news.example"]')
  await row.getByText('Nguyễn Thị Lan').waitFor()
  await row.getByText(/Joined/).waitFor()
  expect(await row.getByRole('combobox').inputValue()).toBe('editor')
  // Nobody else can use it.
  const late = await Dashboard.open(browser, d)
  await late.page.goto(link)
  await late.page.getByLabel('Your name').fill('Eve')
  await late.page.getByRole('button', { name: 'Join' }).click()
  await late.page.getByText('This link is no longer valid').waitFor()
  await late.close()
  await invited.close()
  dashboard.fine()
})

test('a member gets a login link for another day, which can be revoked', async () => {
  const { page } = dashboard
  await dashboard.go('/system?tab=members')
  const row = page.locator('[data-member="lan@news.example"]')
  await row.getByRole('button', { name: 'Create a login link for Nguyễn Thị Lan' }).click()
  const link = await page.locator('[data-login-link]').inputValue()
  expect(link).toMatch(/\/login\/once\//)
  await row.getByText('Unused link, valid until').waitFor()
  await dashboard.accessible('a login link of a member')
  await row.getByRole('button', { name: 'Revoke the link of Nguyễn Thị Lan' }).click()
  await row.getByText('Unused link, valid until').waitFor({ state: 'detached' })
  await page.locator('[data-login-link]').waitFor({ state: 'detached' })
  const other = await Dashboard.open(browser, d)
  await other.page.goto(link)
  await other.page.getByRole('button', { name: 'Log in' }).click()
  await other.page.getByText('This link is no longer valid').waitFor()
  await other.close()
  await until('the audit log', async () => {
    const { entries } = await api<{ entries: { action: string }[] }>('GET', '/audit?limit=50')
    return entries.some((e) => e.action === 'member.login_link_revoked')
  })
  dashboard.fine()
})

test('the audit log names objects and leads to them, also those that are gone', async () => {
  const { page } = dashboard
  const { accounts } = await api<{ accounts: { id: string }[] }>('GET', '/accounts')
  const rule = (name: string) =>
    api<{ id: string; version: number }>('POST', '/rules', {
      name,
      definition: {
        trigger: { sections: ['Thể thao'] },
        conditions: { max_age_hours: 24 },
        templates: { default: '{title}' },
        image: 'none',
        track_links: true,
        account_ids: [accounts[0]?.id],
        timing: { when: 'delay', delay_minutes: 30 },
        mode: 'approval',
        max_per_hour: 5,
        max_per_day: 20,
      },
    })
  await rule('Thể thao')
  const gone = await rule('Kinh tế')
  await api('DELETE', `/rules/${gone.id}`)
  const post = await api<{ id: string }>('POST', '/posts', {
    content: 'Mưa lớn ở Huế',
    accounts: [accounts[0]?.id],
    scheduled_time: new Date(Date.now() + 86_400_000).toISOString(),
  })
  await api('DELETE', `/posts/${post.id}`)
  await dashboard.go('/system?tab=audit')
  await page.getByText('deleted the rule Kinh tế (deleted)').waitFor()
  await page.getByText('created the rule Kinh tế (deleted)').waitFor()
  await page.getByText('invited the member Nguyễn Thị Lan').waitFor()
  expect(await page.getByText(/[0-9a-f]{8}-[0-9a-f]{4}-/).count()).toBe(0)
  await dashboard.accessible('the audit log')
  await shoot(dashboard, 'audit')
  await page.getByRole('link', { name: 'Mưa lớn ở Huế' }).click()
  await page.getByRole('heading', { name: 'Mưa lớn ở Huế', level: 1 }).waitFor()
  await page.goBack()
  await page.getByText('created the rule Thể thao').getByRole('link').click()
  await page.waitForURL(/\/rules#/)
  await page.locator('[data-rule="Thể thao"]').waitFor()
  // Actions of notification channels have an underscore in their type.
  await dashboard.go('/system?tab=audit')
  await page.getByRole('combobox', { name: 'Action' }).click()
  await page.getByRole('option', { name: 'created a notification channel' }).click()
  await page.getByText('Try other members, actions or days.').waitFor()
  dashboard.fine()
})
