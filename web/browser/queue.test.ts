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
  content: string
  status: string
  thread?: { content: string }[]
  targets: { segments?: object[] }[]
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const mastodon = async () =>
  (await api<{ accounts: { id: string; network: string }[] }>('GET', '/accounts')).accounts.find(
    (a) => a.network === 'mastodon',
  )?.id ?? ''

/** What is in the slots of the queue, in order. */
const queue = async () => {
  const from = new Date()
  const { slots } = await api<{ slots: { at: string; post_id?: string }[] }>(
    'GET',
    `/queue-slots?from=${from.toISOString()}&to=${new Date(from.getTime() + 20 * 86_400_000).toISOString()}`,
  )
  const { posts } = await api<{ posts: Post[] }>('GET', '/posts?status=scheduled&limit=200')
  return slots
    .slice(0, 5)
    .map((s) => posts.find((p) => p.id === s.post_id)?.content ?? '-')
    .join(' ')
}

test('posts of a queue change places by dragging and by keyboard, which is undone', async () => {
  const { page } = dashboard
  await dashboard.go('/calendar?view=queue')
  await page.getByText('No queue yet').waitFor()
  await dashboard.accessible('no queue')
  const account = await mastodon()
  const group = await api<{ id: string }>('POST', '/account-groups', {
    name: 'Sports desk',
    accounts: [account],
    time_zone: 'Asia/Ho_Chi_Minh',
    slots: [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({ weekday, time: '09:00' })),
  })
  const ids: Record<string, string> = {}
  for (const content of ['An', 'Bình', 'Chi', 'Dung'])
    ids[content] = (
      await api<Post>('POST', '/posts', { content, accounts: [account], when: 'next_free', queue_group_id: group.id })
    ).id
  await api('DELETE', `/posts/${ids.Chi}`)
  expect(await queue()).toBe('An Bình - Dung -')

  await dashboard.go('/calendar?view=queue')
  const row = (name: string) => page.locator(`[data-queued="${ids[name]}"]`)
  await row('Dung').dragTo(row('An'))
  await until('it to be first, and the others one later', async () => (await queue()) === 'Dung An - Bình -')
  await dashboard.accessible('a queue')
  await shoot(dashboard, 'queue')
  // The list still shows the versions before the move when the next one follows.
  await page.route('**/api/v1/posts?*', async (route) => {
    await new Promise((done) => setTimeout(done, 3000))
    await route.continue()
  })
  await page.getByRole('button', { name: 'Undo' }).click()
  await until('it to be where it was', async () => (await queue()) === 'An Bình - Dung -')
  await page.getByText('Undone.').waitFor()

  // A free slot is filled by dragging, too, once the list is there: a row that is replaced meanwhile is not dragged.
  await until('the list to be loaded', async () => {
    const shown = await page.locator('[data-queued] .dl-agenda-link').allInnerTexts()
    return shown.map((t) => t.trim()).join(' ') === 'An Bình Dung'
  })
  await row('Dung').dragTo(page.locator('[data-free]').first())
  await until('the free slot to be taken', async () => (await queue()) === 'An Bình Dung - -')
  await page.unrouteAll({ behavior: 'wait' })

  // By keyboard: with keys in the row, and with its buttons, which keep the focus.
  await page.getByRole('button', { name: 'Move down: An' }).focus()
  await page.keyboard.press('Alt+ArrowDown')
  await until('it to be second', async () => (await queue()) === 'Bình An Dung - -')
  await page.waitForFunction(
    (id) => document.activeElement?.closest('[data-queued]')?.getAttribute('data-queued') === id,
    ids.An,
  )
  await page.keyboard.press('Enter')
  await until('it to be last', async () => (await queue()) === 'Bình Dung An - -')
  await page
    .getByRole('status')
    .filter({ hasText: /^Moved to .*09:00/ })
    .waitFor({ state: 'attached' })

  // A free slot leads to a new post for it.
  await page.getByRole('link', { name: 'Free slot: write a post' }).first().click()
  await page.waitForURL(/\/compose/)
  dashboard.fine()
})

test('the queue is moved by somebody else meanwhile, and the screen follows', async () => {
  const { page } = dashboard
  await dashboard.go('/calendar?view=queue')
  await dashboard.live()
  const names = async () =>
    (await page.locator('[data-queued] .dl-agenda-link').allInnerTexts()).map((t) => t.trim()).join(' ')
  await until('the queue', async () => (await names()) === 'Bình Dung An')
  const { groups } = await api<{ groups: { id: string }[] }>('GET', '/account-groups')
  const { posts } = await api<{ posts: Post[] }>('GET', '/posts?status=scheduled&limit=200')
  const id = (name: string) => posts.find((p) => p.content === name)?.id
  await api('POST', `/account-groups/${groups[0]?.id}/reorder`, { post_id: id('An'), before: id('Bình') })
  await until('the new order', async () => (await names()) === 'An Bình Dung')
  dashboard.fine()
})

test('the list finds posts by text, account, label, status and date', async () => {
  const { page } = dashboard
  const account = await mastodon()
  const label = await api<{ id: string }>('POST', '/labels', { name: 'Thời tiết', kind: 'label' })
  const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  const day = (days: number) => at(days).slice(0, 10)
  await api('POST', '/posts', {
    content: 'Bão gần bờ',
    accounts: [account],
    labels: [label.id],
    scheduled_time: at(40),
  })
  await api('POST', '/posts', { content: 'Bão tan', accounts: [account], scheduled_time: at(50) })
  const shown = async (search: string, want: string[]) => {
    await dashboard.go(`/calendar?view=list&${search}`)
    await until(`${search} to find ${want.join()}`, async () => {
      const texts = await page.locator('[data-post]').allInnerTexts()
      return texts.length === want.length && want.every((w, i) => texts[i]?.includes(w))
    })
  }
  await shown('q=bao', ['Bão tan', 'Bão gần bờ'])
  await shown(`q=bao&label=${label.id}`, ['Bão gần bờ'])
  await shown(`q=bao&account=${account}&status=scheduled`, ['Bão tan', 'Bão gần bờ'])
  await shown('q=bao&status=posted', [])
  await shown(`from=${day(45)}&to=${day(60)}`, ['Bão tan'])
  await shown(`from=${day(35)}&to=${day(45)}`, ['Bão gần bờ'])
  await dashboard.accessible('the list of some days')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await until('all posts', async () => (await page.locator('[data-post]').count()) > 2)
  // Picked in the calendar: today.
  await page.getByRole('button', { name: 'Dates' }).click()
  await page.locator('table button[data-today], table [data-today] button').first().click()
  await page.locator('table button[data-today], table [data-today] button').first().click()
  await page.waitForURL(/from=/)
  dashboard.fine()
})

test('parts of a thread that wait for their time are edited', async () => {
  const { page } = dashboard
  const account = await mastodon()
  const read = (id: string) => api<Post>('GET', `/posts/${id}`)
  const { id } = await api<Post>('POST', '/posts', {
    content: 'Phần một',
    thread: [{ content: 'Phần hai', after_minutes: 60 }, { content: 'Phần ba' }],
    accounts: [account],
    scheduled_time: new Date(Date.now() + 86_400_000).toISOString(),
  })
  await api('POST', `/posts/${id}/publish-now`)
  await until('the first part to be out', async () => (await read(id)).targets[0]?.segments?.length === 1)
  await dashboard.go(`/posts/${id}`)
  await page.getByRole('link', { name: 'Edit remaining parts' }).click()
  await page.locator('[data-published-part="0"]').getByText('Phần một').waitFor()
  expect(await page.getByRole('textbox', { name: 'Text 1' }).count()).toBe(0)
  await page.getByRole('textbox', { name: 'Text 2' }).fill('Phần hai, đã sửa')
  await page.getByRole('button', { name: 'Remove part 3' }).click()
  await until('it to be ready', () => page.getByRole('button', { name: 'Save changes' }).isEnabled())
  await dashboard.accessible('editing the remaining parts')
  await shoot(dashboard, 'compose-remaining')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.waitForURL(/\/posts\//)
  const after = await read(id)
  expect([after.status, after.thread?.map((p) => p.content)]).toEqual(['publishing', ['Phần hai, đã sửa']])
  // What is published cannot be changed.
  await expect(api('PATCH', `/posts/${id}`, { content: 'Khác' })).rejects.toThrow(/already_published/)
  dashboard.fine()
})

test('a template keeps accounts, thread and options', async () => {
  const { page } = dashboard
  await dashboard.go('/compose')
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Bản tin sáng')
  await page.getByRole('button', { name: 'Add to the thread' }).click()
  await page.getByRole('textbox', { name: 'Text 2' }).fill('Nguồn: VN News')
  await page.getByRole('button', { name: /Mastodon options/ }).click()
  const panel = page.locator('[data-options=mastodon]')
  await panel.getByRole('combobox', { name: 'Who can see this' }).click()
  await page.getByRole('option', { name: 'Unlisted' }).click()
  await page.getByRole('button', { name: 'Snippets' }).first().click()
  const field = page.getByRole('textbox', { name: 'Find, or name the text to save it' })
  await field.fill('Bản tin sáng')
  await page.getByRole('radiogroup', { name: 'Kind' }).getByText('Template').click()
  await page.getByText('Also keeps the thread').waitFor()
  await page.locator('[data-saving=clean]').waitFor() // while the draft is saved, buttons change their colors
  await dashboard.accessible('saving a template')
  await page.getByRole('button', { name: 'Save the text as “Bản tin sáng”' }).click()
  await page.getByText('“Bản tin sáng” saved.').waitFor()
  await page.locator('[data-saving=clean]').waitFor()

  await dashboard.go('/compose')
  await page.getByRole('button', { name: 'Snippets' }).click()
  await page.locator('[data-snippet="Bản tin sáng"]').click()
  await until(
    'the text',
    async () => (await page.getByRole('textbox', { name: 'Text 1' }).inputValue()) === 'Bản tin sáng',
  )
  expect(await page.getByRole('textbox', { name: 'Text 2' }).inputValue()).toBe('Nguồn: VN News')
  await panel.getByText('1 set').waitFor()
  await page.locator('[data-saving=clean]').waitFor()
  const { posts } = await api<{ posts: (Post & { options?: object })[] }>('GET', '/posts?status=draft')
  expect(posts[0]?.options).toEqual({ mastodon: { visibility: 'unlisted' } })
  dashboard.fine()
})

test('accounts show the pictures that their networks have of them', async () => {
  const { page } = dashboard
  for (const path of ['/accounts', '/compose']) {
    await dashboard.go(path)
    if (path === '/compose') await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Có ảnh đại diện')
    const picture = page.locator('[data-avatar]').first()
    await picture.waitFor()
    await until(`the picture of ${path}`, () =>
      picture.evaluate((img: HTMLImageElement) => img.complete && img.naturalWidth > 0),
    )
    await shoot(dashboard, `pictures${path.replace('/', '-')}`)
  }
  // While the draft is checked, the buttons turn from disabled to enabled.
  await page.locator('[data-saving=clean]').waitFor()
  await until('the buttons to be enabled', () => page.getByRole('button', { name: 'Publish now' }).isEnabled())
  await dashboard.accessible('a preview with a picture')
  dashboard.fine()
})

test('best times are suggested from clicks, with their sample', async () => {
  const { page } = dashboard
  await dashboard.go('/compose')
  expect(await page.locator('[data-best-times]').count()).toBe(0)
  // Eight weeks of posts, of which those on Mondays at 18:00 were clicked more often.
  d.sql(`with w as (select p.workspace_id, p.user_id, a.id as account from scheduled_posts p, accounts a where a.network = 'mastodon' limit 1),
    moments as (select gen_random_uuid() as id, n, date_trunc('week', now() at time zone 'Asia/Ho_Chi_Minh') - make_interval(weeks => n / 3 + 1) + case n % 3 when 0 then interval '18 hours' when 1 then interval '1 day 8 hours' else interval '3 days 12 hours' end as at from generate_series(0, 23) n),
    posts as (insert into scheduled_posts (post_id, workspace_id, user_id, content, scheduled_time, time_zone, status, posted_at) select m.id, workspace_id, user_id, 'Có lượt nhấp', m.at at time zone 'Asia/Ho_Chi_Minh', 'Asia/Ho_Chi_Minh', 'posted', m.at at time zone 'Asia/Ho_Chi_Minh' from moments m, w returning post_id, posted_at),
    targets as (insert into post_targets (id, post_id, account_id, status, remote_id, posted_at) select gen_random_uuid(), post_id, account, 'posted', post_id::text, posted_at from posts, w returning id, post_id, account_id, posted_at),
    remote as (insert into remote_posts (account_id, remote_id, target_id, segment, posted_at) select account_id, post_id::text, id, 0, posted_at from targets),
    links as (insert into links (code, workspace_id, user_id, post_id, account_id, network, url) select 'best' || lpad(m.n::text, 6, '0'), workspace_id, user_id, m.id, account, 'mastodon', 'https://vnnews.example/' || m.n from moments m, w)
    insert into view_pages (site_id, page, unique_method, clicks) select workspace_id, 'link/best' || lpad(m.n::text, 6, '0'), 'hyperloglog', case m.n % 3 when 0 then 60 else 10 end from moments m, w`)
  await dashboard.go('/compose')
  await page.locator('[data-best-times=some]').waitFor()
  const first = page.locator('[data-best]').first()
  expect(await first.innerText()).toMatch(/Mon.*18:00[\s\S]*\+\d+ ?%[\s\S]*8 posts/)
  await dashboard.accessible('best times')
  await shoot(dashboard, 'compose-best-times')
  await first.click()
  await page.locator('[data-when]', { hasText: /Monday.*18:00/ }).waitFor()
  dashboard.fine()
})
