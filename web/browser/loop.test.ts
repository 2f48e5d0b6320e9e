import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'
import { Paper } from './paper'

const d = new Dateline()
const own = new Paper()
const other = new Paper()
let browser: Browser
let dashboard: Dashboard

beforeAll(async () => {
  own.stories.shift() // the article about gold is similar to one about rice
  other.stories.length = 0
  await Promise.all([own.listen('localhost'), other.listen('127.0.0.2')])
  await d.prepare({
    DATELINE_ALLOW_PRIVATE_HOSTS: [own, other].map((p) => new URL(p.address).host).join(','),
    DATELINE_CRAWL_DELAY: '100ms',
    DATELINE_TRUSTED_PROXIES: '127.0.0.1',
  })
  await d.start()
  browser = await startBrowser()
  dashboard = await Dashboard.open(browser, d)
  await dashboard.login(d.login)
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
  own.close()
  other.close()
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
interface Numbers {
  engagement?: number
  clicks?: number
  visits?: number
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const posts = async () => (await api<{ posts: Post[] }>('GET', '/posts?limit=200')).posts
const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** The first slot that leaves time to correct and to approve a post. */
function nextSlot() {
  const at = new Date(Date.now() + 120_000)
  at.setUTCSeconds(0, 0)
  return { at, slot: { weekday: ((at.getUTCDay() + 6) % 7) + 1, time: at.toISOString().slice(11, 16) } }
}

test('an article becomes a post that is corrected, approved, published, read and measured, and part of a story', async () => {
  const { page } = dashboard
  const mastodon =
    (await api<{ accounts: { id: string; network: string }[] }>('GET', '/accounts')).accounts.find(
      (a) => a.network === 'mastodon',
    )?.id ?? ''
  const { site } = await api<{ site: { write_key: string } }>('POST', '/sites', {
    name: 'Báo Mai',
    domains: ['localhost'],
  })
  const { domain } = await api<{ domain: string }>('POST', '/seeds', { url: own.address })
  await until(
    'the first articles',
    async () =>
      (await api<{ articles: unknown[] }>('GET', '/articles?limit=200')).articles.length === own.stories.length,
    120_000,
  )
  const { at, slot } = nextSlot()
  const group = await api<{ id: string }>('POST', '/account-groups', {
    name: 'Desk',
    color: 'indigo',
    accounts: [mastodon],
    time_zone: 'UTC',
    slots: [slot],
  })
  await api('POST', '/rules', {
    name: 'Business',
    definition: {
      trigger: { own_sites: true, sections: ['Kinh tế'] },
      conditions: { max_age_hours: 24 },
      templates: { default: '{title}\n\n{url}' },
      image: 'none',
      track_links: true,
      group_id: group.id,
      timing: { when: 'next_free' },
      mode: 'approval',
      max_per_hour: 5,
      max_per_day: 30,
    },
  })

  // An article appears on our site and on another one, and the rule submits a post for its slot.
  own.add(
    'gia-gao-tang',
    'Kinh tế',
    'Mai Lan',
    'Giá gạo tăng trong tuần',
    'Người bán chờ giá cao hơn.',
    'Giá gạo tại các tỉnh đồng bằng tăng nhẹ trong tuần này vì các công ty mua thêm hàng cho những hợp đồng mới ký.',
    'Nông dân cho biết họ chưa vội bán vì tin rằng giá còn tăng trong những tuần tới khi nhu cầu ở nước ngoài lớn hơn.',
    'Các nhà máy xay xát làm thêm ca để kịp giao hàng, trong khi cước vận chuyển vẫn giữ như tháng trước.',
  )
  other.add(
    'gia-gao-tiep-tuc-tang',
    'Kinh doanh',
    'Lê Vy',
    'Giá gạo tiếp tục tăng trong tuần này',
    'Nông dân chưa vội bán.',
    'Giá gạo ở đồng bằng tăng nhẹ trong tuần do công ty xuất khẩu mua thêm hàng cho hợp đồng mới.',
    'Nông dân chưa vội bán gạo vì chờ giá tăng tiếp khi nhu cầu ở nước ngoài lớn hơn, các nhà máy xay xát phải làm thêm ca.',
    'Hiệp hội Lương thực dự báo sản lượng vụ tới giảm mười phần trăm vì hạn mặn ở ven biển.',
  )
  await Promise.all([api('POST', `/domains/${domain}/run`), api('POST', '/seeds', { url: other.address })])
  await until('the post of the new article', async () => (await posts()).length === 1, 120_000)
  const [post] = await posts()
  if (!post) throw new Error('no post')
  expect(post.content).toContain('Giá gạo tăng trong tuần')
  expect(post.approval.state).toBe('pending')
  expect(new Date(post.scheduled_time).toISOString()).toBe(at.toISOString())

  // The headline is corrected while the post is pending.
  const article = own.stories[0]
  if (article) article.title = 'Giá gạo tăng nhẹ trong tuần'
  d.sql(`update urls set due_at = now() where url like '%/gia-gao-tang.html'`)
  await api('POST', `/domains/${domain}/run`)
  await until(
    'the corrected headline to reach the post',
    async () => (await posts())[0]?.content.startsWith('Giá gạo tăng nhẹ') ?? false,
  )

  // An editor approves it in the dashboard, and it is published at its slot.
  await page.goto(`${d.api}/app/posts/${post.id}`)
  await page.getByText('Giá gạo tăng nhẹ trong tuần').first().waitFor()
  await page.getByRole('button', { name: 'Approve', exact: true }).first().click()
  await until('the approval', async () => (await posts())[0]?.status === 'scheduled')
  expect(Date.now()).toBeLessThan(at.getTime())
  await until('the post to be published at its slot', async () => (await posts())[0]?.status === 'posted', 180_000)
  expect(Date.now()).toBeGreaterThanOrEqual(at.getTime())

  // Readers arrive through the tracked link.
  const code = /\/l\/(\w{10})/.exec(await (await fetch(`${d.sandbox}/__state/posts`)).text())?.[1] ?? ''
  for (let reader = 1; reader <= 3; reader++) {
    const headers = { 'User-Agent': agent, 'Accept-Language': 'vi', 'X-Forwarded-For': `203.0.113.${reader}` }
    const target = (await fetch(`${d.api}/l/${code}`, { redirect: 'manual', headers })).headers.get('location') ?? ''
    expect(target).toContain('gia-gao-tang')
    const counted = await fetch(`${d.api}/v1/view`, {
      method: 'POST',
      body: JSON.stringify({ site: site.write_key, url: target }),
      headers: { ...headers, 'Content-Type': 'application/json' },
    })
    expect(counted.status).toBeLessThan(300)
  }

  // Engagement grows (the sandbox's most within an hour), and the row of the report has all of it.
  const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
  const row = async () =>
    (
      await api<{ rows: { post_id: string; numbers: Numbers }[] }>('GET', `/reports/posts?from=${day(-2)}&to=${day(1)}`)
    ).rows.find((r) => r.post_id === post.id)?.numbers
  const engagement = async () => (await row())?.engagement ?? 0
  const age = async (minutes: number) => {
    expect((await fetch(`${d.sandbox}/__state/age?by=${minutes}m`, { method: 'POST' })).status).toBe(204)
    d.sql(
      `update remote_posts set posted_at = posted_at - interval '${minutes} minutes'; update post_metrics set due_at = now(), measured_at = measured_at - interval '${minutes} minutes'`,
    )
  }
  await age(10)
  await d.runUntil('measure-posts', 'the first engagement', async () => (await engagement()) > 0)
  const first = await engagement()
  await age(30)
  await d.runUntil('measure-posts', 'the engagement to grow', async () => (await engagement()) > first)
  await d.runUntil('flush-views', 'the clicks and visits', async () => {
    expect(await row()).toMatchObject({ clicks: 3, visits: 3 })
    return true
  })
  await page.goto(`${d.api}/app/posts/${post.id}`)
  await page.locator('[data-series]').waitFor()
  await dashboard.accessible('a measured post')

  // The story has our article, post and readers, next to the other source.
  const stories = async () =>
    (await api<{ stories: { id: string; own_articles: number }[] }>('GET', '/stories')).stories
  await until('the story', async () => (await stories()).length === 1)
  const [story] = await stories()
  expect(story?.own_articles).toBe(1)
  await page.goto(`${d.api}/app/news/stories/${story?.id}`)
  await page.locator(`[data-post="${post.id}"]`).waitFor()
  expect(await page.locator('[data-entry]').count()).toBe(2)
  await until('the readers of the story', async () => {
    await page.reload()
    await page.locator('[data-views]').waitFor()
    return (await page.locator('[data-views]').getAttribute('data-views')) === '3'
  })
  await dashboard.accessible('a story with our coverage')
  dashboard.fine()
}, 400_000)
