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

interface Post {
  id: string
  options?: Record<string, unknown>
}

const drafts = async () => (await d.send<{ posts: Post[] }>('GET', '/api/v1/posts?status=draft')).posts

test('options of a network are chosen, validated at their fields, and stored', async () => {
  const { page } = dashboard
  await page.getByRole('link', { name: 'New post' }).first().click()
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Bão số 9: cấp báo động')
  await page.getByRole('button', { name: /Mastodon options/ }).click()
  const panel = page.locator('[data-options=mastodon]')
  await panel.getByRole('combobox', { name: 'Who can see this' }).click()
  await page.getByRole('option', { name: 'Unlisted' }).click()
  await panel.getByRole('switch', { name: 'Poll' }).click()
  // The choices are empty so far: the network would refuse them, so each field has an error.
  await panel.getByText('Choice 1 of the poll is empty. Fill it in or remove it.').waitFor()
  await dashboard.accessible('options with problems')
  await panel.getByRole('textbox', { name: 'Choice 1' }).fill('Có')
  await panel.getByRole('textbox', { name: 'Choice 2' }).fill('Không')
  await panel.getByText('Choice 1 of the poll is empty. Fill it in or remove it.').waitFor({ state: 'detached' })
  await page.locator('[data-saving=clean]').waitFor()
  await page.getByText('2 set').waitFor()
  await dashboard.accessible('options')
  await shoot(dashboard, 'compose-options')
  const [draft] = await drafts()
  expect(draft?.options).toEqual({
    mastodon: { visibility: 'unlisted', poll: { choices: ['Có', 'Không'], duration_minutes: 1440 } },
  })

  // They are restored when the draft is opened.
  await dashboard.go(`/compose?id=${draft?.id}`)
  await page.getByRole('button', { name: /Mastodon options/ }).click()
  expect(await panel.getByRole('textbox', { name: 'Choice 2' }).inputValue()).toBe('Không')
  await panel.getByRole('switch', { name: 'Poll' }).click()
  await panel.getByText('1 set').waitFor()
  await page.locator('[data-saving=clean]').waitFor()
  expect((await drafts())[0]?.options).toEqual({ mastodon: { visibility: 'unlisted' } })
  dashboard.fine()
})

test('a PDF becomes a document on LinkedIn, with a title of its own', async () => {
  const { page } = dashboard
  await dashboard.go('/accounts')
  await page.getByRole('button', { name: 'Connect an account' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^LinkedIn/ })
    .click()
  await page.getByRole('button', { name: 'Continue to authorize' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('checkbox').first().check()
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.locator('[data-account=linkedin]').waitFor()

  const paper = await dashboard.context.newPage()
  await paper.setContent('<h1>Báo cáo mùa mưa</h1><h1 style="break-before: page">Trang hai</h1>')
  const buffer = await paper.pdf()
  await paper.close()
  const { accounts } = await d.send<{ accounts: { id: string; network: string }[] }>('GET', '/api/v1/accounts')
  const draft = await d.send<Post>('POST', '/api/v1/posts', {
    content: 'Báo cáo mùa mưa năm nay',
    draft: true,
    accounts: [accounts.find((a) => a.network === 'linkedin')?.id],
  })
  await dashboard.go(`/compose?id=${draft.id}`)
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'bao-cao.pdf', mimeType: 'application/pdf', buffer })
  await page.locator('[data-media]').getByText('2 pages').waitFor()
  const preview = page.locator('[data-preview=linkedin]')
  await preview.locator('[data-media-kind=document]').getByText('bao-cao').waitFor()
  await preview.getByText('On LinkedIn, readers leaf through the pages of the document, and can download it.').waitFor()
  await page.getByRole('button', { name: /LinkedIn options/ }).click()
  await page
    .locator('[data-options=linkedin]')
    .getByRole('textbox', { name: 'Title of the document' })
    .fill('Mùa mưa 2026')
  await page.locator('[data-saving=clean]').waitFor()
  await dashboard.accessible('a document')
  await shoot(dashboard, 'compose-document')
  await until('it to be ready', () => page.getByRole('button', { name: 'Publish now' }).isEnabled())
  await page.getByRole('button', { name: 'Publish now' }).click()
  await page.getByRole('dialog', { name: 'Publish now?' }).getByRole('button', { name: 'Publish now' }).click()
  await page.waitForURL(/\/posts\//)
  await page.locator('main [data-status=posted]').first().waitFor({ timeout: 60_000 })
  const timeline = await (await fetch(`${d.sandbox}/`)).text()
  expect(timeline).toContain('Báo cáo mùa mưa năm nay')

  // Other networks refuse it, in words.
  await dashboard.go('/media')
  await page.locator('[data-file="bao-cao.pdf"]').click()
  await page
    .getByRole('dialog')
    .getByText(/^Removed from the file:.*software/)
    .waitFor()
  await page
    .getByRole('dialog')
    .getByText(/It is PDF, which .* does not accept\./)
    .first()
    .waitFor()
  await dashboard.accessible('a document of the library')
  dashboard.fine()
})

test('an article on WordPress has a title, a category and tags', async () => {
  const { page } = dashboard
  await dashboard.go('/accounts')
  await page.getByRole('button', { name: 'Connect an account' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: /^WordPress/ }).click()
  // The sandbox fills in the form.
  expect(await dialog.getByRole('textbox', { name: 'User name' }).inputValue()).toBe('desk')
  await dashboard.accessible('connect WordPress')
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.locator('[data-account=wordpress]').waitFor()

  const { accounts } = await d.send<{ accounts: { id: string; network: string }[] }>('GET', '/api/v1/accounts')
  const draft = await d.send<Post>('POST', '/api/v1/posts', {
    content: 'Bão số 9 vào đất liền\n\nGió **giật** cấp 12.',
    draft: true,
    accounts: [accounts.find((a) => a.network === 'wordpress')?.id],
  })
  await dashboard.go(`/compose?id=${draft.id}`)
  const preview = page.locator('[data-preview=wordpress]')
  await preview.locator('.dlf-title').getByText('Bão số 9 vào đất liền', { exact: true }).waitFor()
  await preview.getByText('Gió giật cấp 12.').waitFor()
  await page.getByRole('button', { name: /WordPress options/ }).click()
  const panel = page.locator('[data-options=wordpress]')
  await panel.getByRole('textbox', { name: 'Slug (part of the address)' }).fill('Bão số 9')
  await panel.getByText('Use at most 150 lower-case letters without accents, digits and single hyphens.').waitFor()
  await panel.getByRole('textbox', { name: 'Slug (part of the address)' }).fill('bao-so-9')
  await panel.getByRole('combobox', { name: 'Comments' }).click()
  await page.getByRole('option', { name: 'Closed' }).click()
  await page.locator('[data-saving=clean]').waitFor()
  await dashboard.accessible('options of an article')
  await shoot(dashboard, 'compose-article')
  await until('it to be ready', () => page.getByRole('button', { name: 'Publish now' }).isEnabled())
  await page.getByRole('button', { name: 'Publish now' }).click()
  await page.getByRole('dialog', { name: 'Publish now?' }).getByRole('button', { name: 'Publish now' }).click()
  await page.waitForURL(/\/posts\//)
  await page.locator('main [data-status=posted]').first().waitFor({ timeout: 60_000 })
  expect(await (await fetch(`${d.sandbox}/`)).text()).toContain('Gió giật cấp 12.')
  dashboard.fine()
})

test('an article on Ghost has tags and is published on the site', async () => {
  const { page } = dashboard
  await dashboard.go('/accounts')
  await page.getByRole('button', { name: 'Connect an account' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: /^Ghost/ }).click()
  // The sandbox fills in the form.
  expect(await dialog.getByRole('textbox', { name: 'Site address' }).inputValue()).toContain('/ghost/desk')
  await dashboard.accessible('connect Ghost')
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.locator('[data-account=ghost]').waitFor()

  const { accounts } = await d.send<{ accounts: { id: string; network: string }[] }>('GET', '/api/v1/accounts')
  const draft = await d.send<Post>('POST', '/api/v1/posts', {
    content: 'Triều cường lên cao\n\nNước **ngập** ba quận.',
    draft: true,
    accounts: [accounts.find((a) => a.network === 'ghost')?.id],
  })
  await dashboard.go(`/compose?id=${draft.id}`)
  const preview = page.locator('[data-preview=ghost]')
  await preview.locator('.dlf-title').getByText('Triều cường lên cao', { exact: true }).waitFor()
  await page.getByRole('button', { name: /Ghost options/ }).click()
  const panel = page.locator('[data-options=ghost]')
  await panel.getByRole('combobox', { name: 'Who can see this' }).click()
  await page.getByRole('option', { name: 'Paying members' }).click()
  await panel.getByRole('textbox', { name: 'Canonical URL' }).fill('https://news.example/trieu-cuong')
  await page.locator('[data-saving=clean]').waitFor()
  await dashboard.accessible('options of an article on Ghost')
  await until('it to be ready', () => page.getByRole('button', { name: 'Publish now' }).isEnabled())
  await page.getByRole('button', { name: 'Publish now' }).click()
  await page.getByRole('dialog', { name: 'Publish now?' }).getByRole('button', { name: 'Publish now' }).click()
  await page.waitForURL(/\/posts\//)
  await page.locator('main [data-status=posted]').first().waitFor({ timeout: 60_000 })
  expect(await (await fetch(`${d.sandbox}/`)).text()).toContain('ba quận')
  dashboard.fine()
})

test('an article on Zalo has a cover, and is sent to followers once', async () => {
  const { page } = dashboard
  await dashboard.go('/accounts')
  await page.getByRole('button', { name: 'Connect an account' }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^Zalo/ }).click()
  await page.getByRole('button', { name: 'Continue to authorize' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.waitForURL(/\/app\/accounts$/)
  const account = page.locator('[data-account=zalo]')
  await account
    .getByText('The plan is Nâng cao, with 1204 followers. Messages that are left: promotion 40/40.')
    .waitFor()
  await shoot(dashboard, 'accounts-zalo')

  const { accounts } = await d.send<{ accounts: { id: string; network: string }[] }>('GET', '/api/v1/accounts')
  const draft = await d.send<Post>('POST', '/api/v1/posts', {
    content: 'Cầu mới thông xe\n\nXe **máy** đi trước.',
    draft: true,
    accounts: [accounts.find((a) => a.network === 'zalo')?.id],
  })
  await dashboard.go(`/compose?id=${draft.id}`)
  const preview = page.locator('[data-preview=zalo]')
  await preview.locator('.dlf-title').getByText('Cầu mới thông xe', { exact: true }).waitFor()
  await page.getByText('Zalo requires an image or a video.').first().waitFor()
  const buffer = await page.screenshot()
  await page.locator('input[type=file]').first().setInputFiles({ name: 'cau.png', mimeType: 'image/png', buffer })
  await page.getByText('Zalo requires an image or a video.').first().waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /Zalo options/ }).click()
  const panel = page.locator('[data-options=zalo]')
  await panel.getByRole('textbox', { name: 'Author' }).fill('Lê Mai')
  await panel.getByRole('combobox', { name: 'Comments' }).click()
  await page.getByRole('option', { name: 'Closed' }).click()
  await panel.getByRole('combobox', { name: 'Publish as' }).click()
  await page.getByRole('option', { name: 'Article, also sent to followers' }).click()
  await preview.getByText(/^Zalo sends the article to all followers, once and for good\./).waitFor()
  await page.locator('[data-saving=clean]').waitFor()
  await dashboard.accessible('options of an article on Zalo')
  await shoot(dashboard, 'compose-zalo')
  const language = (name: string) => page.evaluate((value) => localStorage.setItem('dateline-language', value), name)
  await language('vi')
  await dashboard.go(`/compose?id=${draft.id}`)
  await preview.getByText(/^Zalo gửi bài đến tất cả người quan tâm, chỉ một lần/).waitFor()
  await page.getByRole('button', { name: /Zalo/ }).first().click()
  await panel.getByRole('textbox', { name: 'Tác giả' }).waitFor()
  await shoot(dashboard, 'compose-zalo-vi')
  await dashboard.go('/accounts')
  await page
    .locator('[data-account=zalo]')
    .getByText('Gói dịch vụ: Nâng cao, 1204 người quan tâm. Hạn mức tin nhắn còn lại: promotion 40/40.')
    .waitFor()
  await shoot(dashboard, 'accounts-zalo-vi')
  await language('en')
  await dashboard.go(`/compose?id=${draft.id}`)
  await until('it to be ready', () => page.getByRole('button', { name: 'Publish now' }).isEnabled())
  await page.getByRole('button', { name: 'Publish now' }).click()
  await page.getByRole('dialog', { name: 'Publish now?' }).getByRole('button', { name: 'Publish now' }).click()
  await page.waitForURL(/\/posts\//)
  await page.locator('main [data-status=posted]').first().waitFor({ timeout: 60_000 })
  expect(await (await fetch(`${d.sandbox}/`)).text()).toContain('Xe máy đi trước.')
  const sent = (await (await fetch(`${d.sandbox}/__state/posts`)).json()) as {
    network: string
    options?: Record<string, unknown>
  }[]
  expect(sent.find((p) => p.network === 'zalo')?.options).toMatchObject({
    title: 'Cầu mới thông xe',
    author: 'Lê Mai',
    comment: 'hide',
    broadcasts: 1,
  })
  dashboard.fine()
})

test('an article on Nostr has a summary and is published on the relay', async () => {
  const { page } = dashboard
  await dashboard.go('/accounts')
  await page.getByRole('button', { name: 'Connect an account' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: /^Nostr/ }).click()
  await dialog.getByText(/bunker:/).waitFor()
  await dashboard.accessible('connect Nostr')
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.locator('[data-account=nostr]').waitFor()

  const { accounts } = await d.send<{ accounts: { id: string; network: string }[] }>('GET', '/api/v1/accounts')
  const draft = await d.send<Post>('POST', '/api/v1/posts', {
    content: 'Sạt lở bờ sông\n\nBa nhà phải **di dời**.',
    draft: true,
    accounts: [accounts.find((a) => a.network === 'nostr')?.id],
  })
  await dashboard.go(`/compose?id=${draft.id}`)
  await page.getByRole('button', { name: /Nostr options/ }).click()
  const panel = page.locator('[data-options=nostr]')
  await panel.getByRole('combobox', { name: 'Publish as' }).click()
  await page.getByRole('option', { name: 'Article' }).click()
  await panel.getByRole('textbox', { name: 'Summary' }).fill('Ba nhà ở cù lao phải dời đi trong đêm.')
  await page.locator('[data-saving=clean]').waitFor()
  await page.locator('[data-preview=nostr]').getByText('Sạt lở bờ sông').waitFor()
  await dashboard.accessible('options of an article on Nostr')
  await until('it to be ready', () => page.getByRole('button', { name: 'Publish now' }).isEnabled())
  await page.getByRole('button', { name: 'Publish now' }).click()
  await page.getByRole('dialog', { name: 'Publish now?' }).getByRole('button', { name: 'Publish now' }).click()
  await page.waitForURL(/\/posts\//)
  await page.locator('main [data-status=posted]').first().waitFor({ timeout: 60_000 })
  expect(await (await fetch(`${d.sandbox}/`)).text()).toContain('di dời')
  dashboard.fine()
})

test('a thread on Slack is shown in its channel, without previews of links', async () => {
  const { page } = dashboard
  await dashboard.go('/accounts')
  await page.getByRole('button', { name: 'Connect an account' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: /^Slack/ }).click()
  // The sandbox fills in the form.
  const channel = dialog.getByRole('textbox', { name: 'Channel' })
  expect(await channel.inputValue()).toBe('desk')
  await channel.fill('nowhere')
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await dialog.getByText('The bot sees no channel of this name.').waitFor()
  await dashboard.accessible('connect Slack')
  await shoot(dashboard, 'connect-slack')
  await channel.fill('#desk')
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.locator('[data-account=slack]').waitFor()

  const { accounts } = await d.send<{ accounts: { id: string; network: string }[] }>('GET', '/api/v1/accounts')
  const draft = await d.send<Post>('POST', '/api/v1/posts', {
    content: 'Mưa lớn *diện rộng* https://news.example/mua & gió mạnh',
    thread: [{ content: 'Cập nhật lúc 15 giờ' }],
    draft: true,
    accounts: [accounts.find((a) => a.network === 'slack')?.id],
  })
  await dashboard.go(`/compose?id=${draft.id}`)
  const preview = page.locator('[data-preview=slack]')
  await preview.getByText('Mưa lớn *diện rộng*').waitFor()
  await page
    .getByText(/Slack formats \*bold\*/)
    .first()
    .waitFor()
  await page.getByRole('button', { name: /Slack options/ }).click()
  const panel = page.locator('[data-options=slack]')
  await panel.getByRole('switch', { name: 'Show formatting characters' }).click()
  await panel.getByRole('switch', { name: 'Hide link previews' }).click()
  await panel.getByRole('switch', { name: 'Also show replies in the channel' }).click()
  await page.locator('[data-saving=clean]').waitFor()
  await page.getByText(/Slack formats \*bold\*/).waitFor({ state: 'detached' })
  await dashboard.accessible('options of a message on Slack')
  await shoot(dashboard, 'compose-slack')
  await until('it to be ready', () => page.getByRole('button', { name: 'Publish now' }).isEnabled())
  await page.getByRole('button', { name: 'Publish now' }).click()
  await page.getByRole('dialog', { name: 'Publish now?' }).getByRole('button', { name: 'Publish now' }).click()
  await page.waitForURL(/\/posts\//)
  await page.locator('main [data-status=posted]').first().waitFor({ timeout: 60_000 })
  const published = (await (await fetch(`${d.sandbox}/__state/posts`)).json()) as {
    network: string
    text: string
    options?: Record<string, unknown>
  }[]
  expect(published.filter((p) => p.network === 'slack').map((p) => [p.text, p.options])).toEqual([
    [
      'Mưa lớn *diện rộng* https://news.example/mua & gió mạnh',
      { mrkdwn: false, unfurl_links: false, unfurl_media: false },
    ],
    ['Cập nhật lúc 15 giờ', { mrkdwn: false, unfurl_links: false, unfurl_media: false, reply_broadcast: true }],
  ])
  dashboard.fine()
})
