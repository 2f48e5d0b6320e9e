import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, sample, shoot, startBrowser, until } from './harness'

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
  status: string
  approval?: { state: string; note?: string }
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const accountOf = async (network: string) =>
  (await api<{ accounts: { id: string; network: string }[] }>('GET', '/accounts')).accounts.find(
    (a) => a.network === network,
  )?.id

/** A post with an image that is pending approval. */
async function pending(content: string): Promise<Post> {
  const { page } = dashboard
  await dashboard.go('/compose')
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill(content)
  await page.locator('input[type=file]').first().setInputFiles(sample())
  await page
    .getByRole('button', { name: /^Remove / })
    .first()
    .waitFor()
  await page.locator('[data-saving=clean]').waitFor()
  await page.waitForURL(/id=/)
  const id = new URL(page.url()).searchParams.get('id') ?? ''
  await api('PATCH', `/posts/${id}`, {
    accounts: [await accountOf('mastodon')],
    scheduled_time: new Date(Date.now() + 3 * 86_400_000).toISOString(),
  })
  return api('POST', `/posts/${id}/submit`)
}

/** Makes a link on the page of the post, and gives its address. */
async function link(post: Post, name: string): Promise<string> {
  const { page } = dashboard
  await dashboard.go(`/posts/${post.id}`)
  const section = page.getByRole('region', { name: 'External approval' })
  await section.getByLabel('Reviewer').fill(name)
  await section.getByRole('button', { name: 'Create link' }).click()
  const field = page.getByLabel(`Link for ${name}; it is shown only once`)
  await field.waitFor()
  await dashboard.accessible('a review link')
  await shoot(dashboard, 'review-link')
  return field.inputValue()
}

test('somebody without an account approves the version that a link shows', async () => {
  const post = await pending('Bản án <b>hôm nay</b>')
  const address = await link(post, 'Legal')
  const outside = await Dashboard.open(browser, d, { locale: 'vi-VN' })
  await outside.page.goto(address)
  await outside.page.getByText('Bản án <b>hôm nay</b>').first().waitFor()
  expect(await outside.page.locator('section.frame .dlf[data-network=mastodon]').count()).toBe(1)
  await outside.page.locator('.dlf-name').first().waitFor()
  await until('the images to be shown', () =>
    outside.page.evaluate(() => [...document.images].every((i) => i.complete && i.naturalWidth > 0)),
  )
  await outside.accessible('the page of a review link')
  await shoot(outside, 'review-page-vi')
  await outside.page.getByRole('button', { name: 'Duyệt' }).click()
  await outside.page.getByText('Bạn đã duyệt bài viết này.').waitFor()
  expect((await api<Post>('GET', `/posts/${post.id}`)).status).toBe('scheduled')
  await dashboard.page.locator('[data-review=approved]').waitFor()
  await dashboard.page.getByText('Approved by Legal.').waitFor()
  outside.fine()
  await outside.close()
  dashboard.fine()
})

test('changes are requested with a comment, and an edit makes links outdated', async () => {
  const post = await pending('Tỷ giá hôm nay')
  const address = await link(post, 'Bank')
  const outside = await Dashboard.open(browser, d)
  await outside.page.goto(address)
  await outside.page.getByRole('button', { name: 'Request changes' }).click()
  await outside.page.getByRole('alert').getByText('Say what should be changed.').waitFor()
  await outside.page.getByLabel(/^Comment/).fill('The rate is of yesterday.')
  await shoot(outside, 'review-page')
  await outside.page.getByRole('button', { name: 'Request changes' }).click()
  await outside.page.getByText('You have asked for changes.').waitFor()
  expect((await api<Post>('GET', `/posts/${post.id}`)).approval?.note).toBe('The rate is of yesterday.')
  await dashboard.page.locator('[data-review=rejected]', { hasText: 'The rate is of yesterday.' }).waitFor()

  await api('POST', `/posts/${post.id}/submit`)
  const again = await link(post, 'Bank again')
  await api('PATCH', `/posts/${post.id}`, { content: 'Tỷ giá hôm nay: 25.400' })
  await outside.page.goto(again)
  await outside.page.getByText('The post has changed since this link was made.').waitFor()
  const third = await link(post, 'Board')
  await dashboard.page.getByRole('button', { name: 'Revoke the link of Board' }).click()
  await dashboard.page.locator('[data-review=revoked]').waitFor()
  await outside.page.goto(third)
  await outside.page.getByText('This link was revoked.').waitFor()
  await outside.close()
  dashboard.fine()
})

test('members comment on a post and mention one another by keyboard', async () => {
  const { page } = dashboard
  const post = await api<Post>('POST', '/posts', {
    content: 'Tin có bình luận',
    accounts: [await accountOf('mastodon')],
    scheduled_time: new Date(Date.now() + 4 * 86_400_000).toISOString(),
  })
  await dashboard.go(`/posts/${post.id}`)
  const field = page.getByLabel('Write a comment')
  const { people } = await api<{ people: { id: string; name: string }[] }>('GET', `/posts/${post.id}/comments`)
  await field.pressSequentially(`Xem lại nhé @${people[0]?.name.slice(0, 2)}`)
  await page.getByRole('option', { name: people[0]?.name }).waitFor()
  await dashboard.accessible('mentioning a member')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  expect(await field.inputValue()).toBe(`Xem lại nhé @${people[0]?.name} `)
  await page.keyboard.press('Control+Enter')
  await page.locator('[data-comment]').getByText(`@${people[0]?.name}`).waitFor()
  await page.getByText('Somebody mentioned you in a comment.').waitFor()
  const { comments } = await api<{ comments: { mentions: string[] }[] }>('GET', `/posts/${post.id}/comments`)
  expect(comments.map((c) => c.mentions)).toEqual([[people[0]?.id]])
  await dashboard.accessible('comments')
  await shoot(dashboard, 'comments')
  await page.getByRole('button', { name: 'Delete comment' }).click()
  await page.locator('[data-comment]').waitFor({ state: 'detached' })
  await page.evaluate(() => localStorage.setItem('dateline-language', 'vi'))
  await dashboard.go(`/posts/${post.id}`)
  await page.getByLabel('Viết bình luận').waitFor()
  await shoot(dashboard, 'comments-vi')
  await page.evaluate(() => localStorage.setItem('dateline-language', 'en'))
  dashboard.fine()
})
