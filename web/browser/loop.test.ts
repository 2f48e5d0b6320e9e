import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'
import { Paper } from './paper'

const d = new Dateline()
const paper = new Paper()
let browser: Browser
let dashboard: Dashboard

beforeAll(async () => {
  await paper.listen()
  await d.prepare({ DATELINE_ALLOW_PRIVATE_HOSTS: new URL(paper.address).host, DATELINE_CRAWL_DELAY: '100ms' })
  await d.start()
  browser = await startBrowser()
  dashboard = await Dashboard.open(browser, d)
  await dashboard.login(d.login)
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
  paper.close()
})
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && dashboard) await shoot(dashboard, `failed ${task.name.slice(0, 40)}`)
})

interface Post {
  id: string
  content: string
  status: string
  scheduled_time: string
  approval: { state: string }
}
interface Row {
  post_id: string
  numbers: { engagement?: number; clicks?: number; visits?: number }
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const posts = async () => (await api<{ posts: Post[] }>('GET', '/posts?limit=200')).posts
const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** The time of a slot that begins soon. */
function slotIn(minutes: number) {
  const at = new Date(Date.now() + minutes * 60_000)
  at.setUTCSeconds(0, 0)
  return { at, slot: { weekday: ((at.getUTCDay() + 6) % 7) + 1, time: at.toISOString().slice(11, 16) } }
}

test('an article becomes a post, is approved, brings readers and grows', async () => {
  const { page } = dashboard
  const accounts = (await api<{ accounts: { id: string; network: string }[] }>('GET', '/accounts')).accounts
  const mastodon = accounts.find((a) => a.network === 'mastodon')?.id ?? ''
  const host = new URL(paper.address).hostname
  const site = await api<{ site: { write_key: string } }>('POST', '/sites', { name: 'Báo Mai', domains: [host] })
  const { domain } = await api<{ domain: string }>('POST', '/seeds', { url: paper.address })
  await until('the articles', async () => (await api<{ articles: unknown[] }>('GET', '/articles?limit=200')).articles.length === paper.stories.length, 180_000)
  const { at, slot } = slotIn(6)
  const group = await api<{ id: string }>('POST', '/account-groups', { name: 'Desk', color: 'indigo', accounts: [mastodon], time_zone: 'UTC', slots: [slot] })
  await api('POST', '/rules', {
    name: 'Business',
    definition: {
      trigger: { sections: ['Kinh tế'] }, conditions: { max_age_hours: 24 }, templates: { default: '{title}\n\n{url}' }, image: 'none', track_links: true, group_id: group.id,
      timing: { when: 'next_free' }, mode: 'approval', max_per_hour: 5, max_per_day: 30,
    },
  })

  // An article appears, and the rule submits a post for its slot.
  paper.add('gia-gao-tang', 'Kinh tế', 'Mai Lan', 'Giá gạo tăng trong tuần', 'Người bán chờ giá cao hơn.',
    'Giá gạo tại các tỉnh đồng bằng tăng nhẹ trong tuần này vì các công ty mua thêm hàng cho những hợp đồng mới ký.',
    'Nông dân cho biết họ chưa vội bán vì tin rằng giá còn tăng trong những tuần tới khi nhu cầu ở nước ngoài lớn hơn.',
    'Các nhà máy xay xát làm thêm ca để kịp giao hàng, trong khi cước vận chuyển vẫn giữ như tháng trước.')
  await api('POST', `/domains/${domain}/run`)
  await until('the post of the new article', async () => (await posts()).length === 1, 180_000)
  const [post] = await posts()
  if (!post) throw new Error('no post')
  expect(post.approval.state).toBe('pending')
  expect(new Date(post.scheduled_time).getTime()).toBe(at.getTime())

  // The headline is corrected while the post is pending.
  const titled = (title: string) => `update articles set title = '${title}', version = version + 1 where title like 'Giá gạo%'; insert into rule_articles (article_id) select id from articles where title like 'Giá gạo%'`
  d.sql(titled('Giá gạo tăng nhẹ trong tuần'))
  await until('the corrected headline to reach the post', async () => (await posts())[0]?.content.startsWith('Giá gạo tăng nhẹ') ?? false)

  // An editor approves it in the dashboard.
  await page.goto(`${d.api}/app/posts/${post.id}`)
  await page.getByText('Giá gạo tăng nhẹ trong tuần').first().waitFor()
  await page.getByRole('button', { name: 'Approve', exact: true }).first().click()
  await until('the approval', async () => (await posts())[0]?.status === 'scheduled')
  await dashboard.accessible('an approved post')
  await until('the post to be published at its slot', async () => (await posts())[0]?.status === 'posted', 480_000)
  expect(Date.now()).toBeGreaterThanOrEqual(at.getTime())

  // Readers arrive through the tracked link.
  const published = await fetch(`${d.sandbox}/__state/posts`)
  const code = /\/l\/(\w{10})/.exec(await published.text())?.[1] ?? ''
  expect(code).not.toBe('')
  for (let reader = 0; reader < 3; reader++) {
    const headers = { 'User-Agent': agent, 'Accept-Language': 'vi', 'X-Forwarded-For': `203.0.113.${reader}` }
    const redirect = await fetch(`${d.api}/l/${code}`, { redirect: 'manual', headers })
    const target = redirect.headers.get('location') ?? ''
    expect(target).toContain('gia-gao-tang')
    const counted = await fetch(`${d.api}/v1/view`, { method: 'POST', body: JSON.stringify({ site: site.site.write_key, url: target }), headers: { ...headers, 'Content-Type': 'application/json' } })
    expect(counted.status).toBeLessThan(300)
  }

  // Engagement grows, and the row of the report has all of it.
  const age = async (hours: number) => {
    expect((await fetch(`${d.sandbox}/__state/age?by=${hours}h`, { method: 'POST' })).status).toBe(204)
    d.sql(`update remote_posts set posted_at = posted_at - interval '${hours} hours'; update post_metrics set due_at = now(), measured_at = measured_at - interval '${hours} hours'`)
  }
  const today = new Date()
  const days = `from=${new Date(today.getTime() - 2 * 86_400_000).toISOString().slice(0, 10)}&to=${new Date(today.getTime() + 86_400_000).toISOString().slice(0, 10)}`
  const row = async () => (await api<{ rows: Row[] }>('GET', `/reports/posts?${days}`)).rows.find((r) => r.post_id === post.id)?.numbers
  await age(2)
  await until('the first engagement', async () => ((await row())?.engagement ?? 0) > 0, 240_000)
  const first = (await row())?.engagement ?? 0
  await age(5)
  await until('the engagement to grow', async () => ((await row())?.engagement ?? 0) > first, 240_000)
  await until('the clicks and visits', async () => {
    const numbers = await row()
    return (numbers?.clicks ?? 0) > 0 && (numbers?.visits ?? 0) > 0
  }, 240_000)
  await page.goto(`${d.api}/app/posts/${post.id}`)
  await page.locator('[data-series]').waitFor()
  await dashboard.accessible('a measured post')
  dashboard.fine()
}, 1_800_000)
