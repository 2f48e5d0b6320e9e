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
}
const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
const posts = async () => (await api<{ posts: Post[] }>('GET', '/posts?limit=200')).posts

test('a rule is tried on past articles, posts a new one, and its post follows a correction', async () => {
  const { page } = dashboard
  const mastodon =
    (await api<{ accounts: { handle: string; network: string }[] }>('GET', '/accounts')).accounts.find(
      (a) => a.network === 'mastodon',
    )?.handle ?? ''
  await page.getByRole('link', { name: 'Rules', exact: true }).click()
  await page.getByText('No rules', { exact: true }).waitFor()
  await dashboard.accessible('no rules')
  const { domain } = await api<{ domain: string }>('POST', '/seeds', { url: paper.address })
  await until(
    'the articles',
    async () =>
      (await api<{ articles: unknown[] }>('GET', '/articles?limit=200')).articles.length === paper.stories.length,
    120_000,
  )

  await page.getByRole('button', { name: 'New rule' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Business')
  await dialog.getByRole('combobox', { name: 'Section', exact: true }).fill('Kinh tế')
  await page.keyboard.press('Enter')
  // The default accounts are chosen.
  await dialog.getByText(`${mastodon} (mastodon)`).waitFor()
  await dialog.getByLabel('Hashtags by section or tag').fill('Kinh tế: #KinhTe')
  await dialog.getByRole('button', { name: 'Preview the last seven days' }).click()
  await dialog.locator('[data-preview]').waitFor()
  await until('the preview to be in sight', () =>
    dialog.evaluate((e) => {
      const top = e.querySelector('[data-preview]')?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY
      return top + 40 < e.getBoundingClientRect().bottom
    }),
  )
  expect(await dialog.locator('[data-preview]').getAttribute('data-preview')).toBe('1')
  await dialog.getByText('Giá vàng lập kỷ lục mới').first().waitFor()
  await dialog.getByText('#KinhTe').last().waitFor()
  await dialog.getByText(`Not selected: ${paper.stories.length - 1}`).waitFor()
  await dashboard.accessible('the editor of a rule with its preview')
  expect(await posts()).toHaveLength(0)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.locator('[data-rule="Business"]').waitFor()
  await shoot(dashboard, 'rules')

  paper.add(
    'gia-gao-tang',
    'Kinh tế',
    'Mai Lan',
    'Giá gạo tăng trong tuần',
    'Người bán chờ giá cao hơn.',
    'Giá gạo tại các tỉnh đồng bằng tăng nhẹ trong tuần này vì các công ty mua thêm hàng cho những hợp đồng mới ký.',
    'Nông dân cho biết họ chưa vội bán vì tin rằng giá còn tăng trong những tuần tới khi nhu cầu ở nước ngoài lớn hơn.',
    'Các nhà máy xay xát làm thêm ca để kịp giao hàng, trong khi cước vận chuyển vẫn giữ như tháng trước.',
  )
  await api('POST', `/domains/${domain}/run`)
  await until('the draft of the new article', async () => (await posts()).length === 1, 120_000)
  const [post] = await posts()
  expect(post?.status).toBe('draft')
  expect(post?.content).toContain('Giá gạo tăng trong tuần')
  expect(post?.content).toContain('utm_medium=social')
  await page.getByRole('button', { name: 'Decisions' }).click()
  await page.locator('[data-decision]', { hasText: 'Giá gạo tăng trong tuần' }).getByText('The rule matches.').waitFor()
  await dashboard.accessible('decisions')

  d.sql(
    "update articles set title = 'Giá gạo giảm trong tuần', version = version + 1 where title = 'Giá gạo tăng trong tuần'; insert into rule_articles (article_id) select id from articles where title = 'Giá gạo giảm trong tuần'",
  )
  await until(
    'the corrected title to reach the post',
    async () => (await posts())[0]?.content.includes('Giá gạo giảm trong tuần') ?? false,
  )
  await api('PATCH', `/posts/${post?.id}`, { content: 'Our own words' })
  d.sql(
    "update articles set title = 'Giá gạo đứng yên', version = version + 1 where title = 'Giá gạo giảm trong tuần'; insert into rule_articles (article_id) select id from articles where title = 'Giá gạo đứng yên'",
  )
  await until(
    'the post to need attention',
    async () => (await api<{ rules: { attention_count: number }[] }>('GET', '/rules')).rules[0]?.attention_count === 1,
  )
  await dashboard.go('/rules')
  await page.getByText('1 post needs attention').waitFor()
  await page.getByRole('button', { name: 'Decisions' }).click()
  await page.getByText('The article was corrected. The post was not updated').waitFor()
  await page.getByRole('button', { name: 'Resolve' }).click()
  await page.getByText('1 post needs attention').waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.locator('[data-pause="member"]').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.locator('[data-pause]').waitFor({ state: 'detached' })
  dashboard.fine()
}, 300_000)
