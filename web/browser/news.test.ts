import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { Dateline, Dashboard, shoot, startBrowser, until } from './harness'
import { lookAt, looks, scrollsFar } from './looks'
import { Paper } from './paper'

const d = new Dateline()
const paper = new Paper()
let browser: Browser
let dashboard: Dashboard
let domain = ''

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

interface Article {
  id: string
  title: string
  url: string
}

const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)

/** The article with a title. */
async function articleOf(title: string): Promise<Article> {
  let found: Article | undefined
  await until(
    `the article “${title}”`,
    async () => {
      found = (await api<{ articles: Article[] }>('GET', '/articles?limit=200')).articles.find((a) => a.title === title)
      return found !== undefined
    },
    90_000,
  )
  return found!
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

test('without articles the page explains how to get some', async () => {
  const { page } = dashboard
  await page.getByRole('link', { name: 'News', exact: true }).click()
  await page.getByText('No articles yet').waitFor()
  await dashboard.accessible('no articles')
  await page.getByRole('link', { name: 'Go to seeds' }).click()
  await page.getByText('No seeds yet').waitFor()
  await dashboard.accessible('no seeds')
  await dashboard.go('/news/saved')
  await page.getByText('No saved searches').waitFor()
  await dashboard.go('/news/domains')
  await page.getByText('No domains yet').waitFor()
  dashboard.fine()
})

test('a seed is added, and its articles appear live', async () => {
  const { page } = dashboard
  await dashboard.go('/news/seeds')
  await page.getByRole('button', { name: 'Add seeds' }).first().click()
  await page.getByRole('dialog').getByLabel('Address').fill(paper.address)
  await dashboard.accessible('adding a seed')
  await page.getByRole('dialog').getByRole('button', { name: 'Add seeds' }).click()
  await page.locator(`[data-seed^="${paper.address}"]`).waitFor()
  await page.getByRole('navigation', { name: 'News' }).getByRole('link', { name: 'Articles' }).click()
  // The page is not reloaded from now on: articles appear live.
  for (const { title } of paper.stories)
    await page.locator('[data-article]', { hasText: title }).waitFor({ timeout: 120_000 })
  expect(paper.asked()).toContain('/')
  await dashboard.go('/news/domains')
  await page.locator('[data-domain] a').first().click()
  await page.locator('[data-run]').waitFor()
  domain = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
  await page.locator('[data-queue=stored]').waitFor()
  expect(Number(await page.locator('[data-run]').getAttribute('data-fetched'))).toBeGreaterThan(paper.stories.length)
  await page.locator('[data-article]', { hasText: 'Giá vàng lập kỷ lục mới' }).waitFor()
  // The figures of the crawl: responses and articles.
  const figures = page.getByRole('region', { name: 'Statistics' })
  await figures.locator('[data-answer="200"]').waitFor()
  const articles = figures
    .locator('div', { has: page.locator('dt', { hasText: /^Articles$/ }) })
    .last()
    .locator('dd')
  await until(
    'the articles to be in the figures',
    async () => Number(await articles.innerText()) >= paper.stories.length,
  )
  dashboard.fine()
}, 240_000)

test('a crawl is shown live, and new articles appear', async () => {
  const { page } = dashboard
  await dashboard.go(`/news/domains/${domain}`)
  await page.locator('[data-run]').waitFor()
  const before = Number(await page.locator('[data-run]').getAttribute('data-fetched'))
  paper.add(
    'cho-hoa-tet',
    'Văn hoá',
    'Lê Vy',
    'Chợ hoa mở sớm hơn mọi năm',
    'Người trồng hoa mong trời nắng.',
    'Chợ hoa bên bến sông năm nay mở sớm hơn một tuần vì thời tiết thuận lợi và người mua muốn chọn cây từ trước.',
    'Các nhà vườn chở đến hàng nghìn chậu cúc và quất, giá không tăng nhiều so với năm ngoái dù phân bón đắt hơn.',
    'Ban quản lý chợ bố trí thêm chỗ gửi xe và đèn chiếu sáng để khách có thể đi chợ đến khuya.',
  )
  await page.getByRole('button', { name: /^Crawl now/ }).click()
  await page.locator('[data-article]', { hasText: 'Chợ hoa mở sớm hơn mọi năm' }).waitFor({ timeout: 120_000 })
  expect(Number(await page.locator('[data-run]').getAttribute('data-fetched'))).toBeGreaterThan(before)
  await page.getByText(/Since you opened this page: \d+ requests/).waitFor()
  await page.getByRole('button', { name: /^Pause/ }).click()
  await page.locator('[data-domain-status=paused]').waitFor()
  await page.getByRole('button', { name: /^Resume/ }).click()
  await page.locator('[data-domain-status=paused]').waitFor({ state: 'detached' })
  dashboard.fine()
})

test('fetched pages without an article are listed with the reason', async () => {
  const { page } = dashboard
  const id = crypto.randomUUID()
  d.sql(
    `insert into pages_without_article (domain_id, url_id, url, fetched_at, reason, detail) select id, '${id}', ${quoted(`${paper.address}tin-ngan.html`)}, now(), 'too_short', 'the page has 4 words of text' from crawl_domains where domain = ${quoted(domain)}`,
  )
  await dashboard.go(`/news/domains/${domain}`)
  await page
    .locator('[data-without-article=too_short]', { hasText: 'tin-ngan.html' })
    .getByText('Too little text')
    .waitFor()
  await dashboard.accessible('pages without an article')
  d.sql(`delete from pages_without_article where url_id = '${id}'`)
  dashboard.fine()
})

test('words without diacritics find the article, with matches highlighted', async () => {
  const { page } = dashboard
  await dashboard.go('/news')
  await page.locator('[data-article]').first().waitFor()
  await page.getByRole('searchbox', { name: 'Search' }).pressSequentially('gia vang ky luc')
  const hit = page.locator('[data-article]', { hasText: 'Giá vàng lập kỷ lục mới' })
  await hit.locator('mark').first().waitFor()
  expect((await hit.locator('mark').allTextContents()).join(' ').toLowerCase()).toContain('vàng')
  await page.waitForURL(/q=gia/)
  expect(await page.locator('[data-article]').first().textContent()).toContain('Giá vàng lập kỷ lục mới')
  await dashboard.accessible('search')
  await page.getByRole('searchbox', { name: 'Search' }).fill('xyzzyplugh')
  await page.getByText('No matching articles').waitFor()
  dashboard.fine()
})

test('results are filtered by facets, whose other values can still be chosen', async () => {
  const { page } = dashboard
  await dashboard.go('/news')
  const sections = page.locator('[data-facet=section]')
  await sections.getByText(/^Thể thao/).click()
  await until('one article to be left', async () => (await page.locator('[data-article]').count()) === 1)
  await page.locator('[data-article]', { hasText: 'Đội tuyển thắng trận mở màn' }).waitFor()
  await sections.getByText(/^Kinh tế/).click()
  await until('two articles to be left', async () => (await page.locator('[data-article]').count()) === 2)
  await page.reload()
  await until('the address to hold the choice', async () => (await page.locator('[data-article]').count()) === 2)
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await until('all to be back', async () => (await page.locator('[data-article]').count()) === paper.stories.length)
  dashboard.fine()
})

test('a search is saved, alerts about a new article, is read as a feed, changed, paused and deleted', async () => {
  const { page } = dashboard
  await dashboard.go(`/news?q=${encodeURIComponent('giá vàng')}`)
  await page.getByRole('button', { name: 'Save this search' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Vàng <b>')
  await dashboard.accessible('saving a search')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByRole('button', { name: 'Create feed addresses' }).click()
  const rss = (await dialog.locator('[data-feed=rss]').textContent()) ?? ''
  const json = (await dialog.locator('[data-feed=json]').textContent()) ?? ''
  expect(await (await fetch(rss)).text()).toContain('Giá vàng lập kỷ lục mới')
  expect(((await (await fetch(json)).json()) as { items: unknown[] }).items).toHaveLength(1)
  await dialog.getByRole('link', { name: 'Saved searches' }).click()
  const kept = page.locator('[data-saved="Vàng <b>"]')
  await kept.locator('[data-alerts="0"]').waitFor()
  await dashboard.live()
  paper.add(
    'gia-vang-giam',
    'Kinh tế',
    'Mai Lan',
    'Giá vàng quay đầu giảm nhẹ',
    'Người mua thưa dần sau kỷ lục.',
    'Sau ba phiên tăng liên tiếp, giá vàng sáng nay quay đầu giảm nhẹ khi giới đầu cơ bán ra để hưởng chênh lệch.',
    'Các tiệm vàng cho biết lượng khách đã thưa hơn hẳn so với đầu tuần, phần lớn chỉ đến hỏi giá rồi ra về.',
    'Giới phân tích cho rằng thị trường cần thêm thời gian để tìm điểm cân bằng mới trong những ngày cuối năm.',
  )
  await api('POST', `/domains/${domain}/run`)
  // The page is not reloaded: an event makes it refetch its data.
  await kept.locator('[data-alerts="1"]').waitFor({ timeout: 120_000 })
  await kept.getByRole('button', { name: 'Alerts' }).click()
  await kept.locator('[data-match]', { hasText: 'Giá vàng quay đầu giảm nhẹ' }).waitFor()
  await dashboard.accessible('saved searches')
  await kept.getByRole('switch', { name: 'Alert me to new articles' }).click()
  await kept.getByText('Paused').waitFor()
  await kept.getByRole('button', { name: /^Edit/ }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Gold')
  await page.getByRole('dialog').getByLabel('Author').fill('Mai Lan')
  await page.keyboard.press('Enter')
  await dashboard.accessible('editing a search')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  const gold = page.locator('[data-saved=Gold]')
  await gold.getByText('Mai Lan').waitFor()
  await gold.getByRole('link', { name: 'Open', exact: true }).click()
  await page.locator('[data-article]', { hasText: 'Giá vàng' }).first().waitFor()
  await dashboard.go('/news/saved')
  await gold.getByRole('button', { name: /^Delete/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No saved searches').waitFor()
  expect((await fetch(rss)).status).toBe(404)
  dashboard.fine()
}, 240_000)

test('an article shows its text, its versions and who else reported it', async () => {
  const { page } = dashboard
  const { id } = await articleOf('Nước sông dâng cao sau mưa lớn')
  d.sql(`update articles set version = 2, body_text = replace(body_text, 'hai ngày', 'ba ngày') where id = '${id}';
    insert into article_revisions (article_id, version, seen_at, changed, title, authors, published_at, modified_at, lead, body_text, image_url, section, tags, content_hash, object_key, selector_version)
      select id, 2, clock_timestamp(), '{body,title}', 'Nước sông rút sau mưa lớn', authors, published_at, modified_at, lead, body_text || E'\\n\\nNước đang rút dần.', image_url, section, tags, content_hash, object_key, selector_version from articles where id = '${id}';
    insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, first_seen_at, body_text, body_html, content_hash, group_id, object_key, fetched_at)
      select gen_random_uuid(), domain_id, gen_random_uuid(), gen_random_uuid(), url || '?2', url || '?2', 'Nước sông dâng cao (theo báo bạn)', now(), body_text, body_html, '', group_id, object_key, now() from articles where id = '${id}'`)
  await dashboard.go('/news')
  await page.locator(`[data-article="${id}"]`).click()
  await page.getByRole('heading', { name: 'Nước sông dâng cao sau mưa lớn', level: 1 }).waitFor()
  await page
    .locator('[data-body]')
    .getByText(/Mưa lớn kéo dài/)
    .waitFor()
  expect(await page.locator('main img').count()).toBe(0)
  await page.locator('[data-other]', { hasText: 'theo báo bạn' }).waitFor()
  await page.locator('[data-version="2"]').getByRole('button', { name: 'Changes' }).click()
  const change = page.locator('[data-difference]')
  await change.locator('del', { hasText: 'hai' }).waitFor()
  await change.locator('ins', { hasText: 'ba' }).first().waitFor()
  await change.locator('ins', { hasText: 'Nước đang rút dần.' }).waitFor()
  await page
    .getByRole('cell', { name: 'open-graph' })
    .or(page.getByRole('cell', { name: 'json-ld' }))
    .or(page.getByRole('cell', { name: 'meta' }))
    .or(page.getByRole('cell', { name: 'html' }))
    .first()
    .waitFor()
  const raw = page.locator('[data-version="1"]').getByRole('link', { name: 'Raw HTML' })
  const answer = await page.request.get(new URL((await raw.getAttribute('href')) ?? '', page.url()).href)
  expect(answer.status()).toBe(200)
  expect(answer.headers()['content-disposition']).toContain('attachment')
  await dashboard.accessible('article')
  dashboard.fine()
})

test('content of sites is shown as plain text', async () => {
  const { page } = dashboard
  const { id } = await articleOf('Thư viện mới mở cửa đón bạn đọc')
  const title = '<img src=x onerror=globalThis.broken=1> Thư viện'
  const html = `<p onclick="globalThis.broken=1" style="color:red">Tầng một <script>globalThis.broken=1</script><img src="https://elsewhere.example/a.png" onerror="globalThis.broken=1" alt="Sách"></p>
    <iframe src="https://elsewhere.example/"></iframe><svg onload="globalThis.broken=1"></svg><a href="javascript:globalThis.broken=1">Bấm đây</a> <a href="https://other.example/b">Nguồn</a>
    <form action="https://elsewhere.example/"><input autofocus onfocus="globalThis.broken=1"><button>Gửi</button></form><style>body{display:none}</style><base href="https://elsewhere.example/">
    <table><tr><td>Ô</td></tr></table>`
  const before = await api<{ title: string; html: string; lead: string }>('GET', `/articles/${id}`)
  d.sql(
    `update articles set title = ${quoted(title)}, body_html = ${quoted(html)}, lead = '<script>globalThis.broken=1</script>', tags = array['<b>thẻ</b>'] where id = '${id}'`,
  )
  await dashboard.go(`/news/articles/${id}`)
  await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  const body = page.locator('[data-body]')
  await body.getByText('<script>globalThis.broken=1</script>').waitFor()
  await body.getByText('Tầng một').waitFor()
  await body.getByText('Bấm đây').waitFor()
  expect(await body.getByRole('link').allTextContents()).toEqual(['Picture: Sách', 'Nguồn', '#<b>thẻ</b>'])
  expect(
    await body.locator('img, script, iframe, svg, form, input, style, base, [style*=red], [onclick]').count(),
  ).toBe(0)
  expect(await page.evaluate(() => 'broken' in globalThis)).toBe(false)
  await dashboard.accessible('hostile article')
  await dashboard.go('/news')
  await page.locator(`[data-article="${id}"]`, { hasText: '<img src=x' }).waitFor()
  d.sql(
    `update articles set title = ${quoted(before.title)}, body_html = ${quoted(before.html)}, lead = ${quoted(before.lead)}, tags = '{}' where id = '${id}'`,
  )
  dashboard.fine()
})

test('a live blog shows its entries, the newest first', async () => {
  const { page } = dashboard
  const { id } = await articleOf('Thư viện mới mở cửa đón bạn đọc')
  const entries = Array.from({ length: 25 }, (_, n) => ({
    key: `e${n}`,
    time: new Date(Date.UTC(2026, 10, 28, 12, 60 - n)).toISOString(),
    title: `Diễn biến ${25 - n}`,
    text: 'Đội cứu hộ đã đến.',
    html: '<p>Đội cứu hộ <script>globalThis.broken=1</script><b onclick="globalThis.broken=1">đã đến</b>.</p>',
  }))
  d.sql(`update articles set live_entries = ${quoted(JSON.stringify(entries))} where id = '${id}'`)
  await dashboard.go(`/news/articles/${id}`)
  const live = page.getByRole('region', { name: 'Live updates' })
  await live.getByRole('heading', { name: 'Diễn biến 25' }).waitFor()
  expect(await live.locator('[data-live]').count()).toBe(20)
  expect(await live.locator('script, [onclick]').count()).toBe(0)
  await dashboard.accessible('a live blog')
  await live.getByRole('button', { name: 'Show 5 earlier updates' }).click()
  await live.getByRole('heading', { name: 'Diễn biến 1', exact: true }).waitFor()
  d.sql(`update articles set live_entries = '[]' where id = '${id}'`)
  dashboard.fine()
})

interface Post {
  id: string
  status: string
  track_links?: boolean
  attachments: string[]
  content: string
}

test('a post is created from an article and scheduled', async () => {
  const { page } = dashboard
  const article = await articleOf('Giá vàng lập kỷ lục mới')
  await dashboard.go(`/news/articles/${article.id}`)
  await page.getByRole('button', { name: 'Create post' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('[data-text]', { hasText: 'Giá vàng miếng sáng nay vượt mọi mức từng có.' }).waitFor()
  await dashboard.accessible('making a post')
  await dialog.getByRole('button', { name: 'Open in the composer' }).click()
  await page.waitForURL(/compose\?id=/)
  const text = page.getByRole('textbox', { name: 'Text', exact: true })
  await text.waitFor()
  expect(await text.inputValue()).toBe(
    `Giá vàng lập kỷ lục mới\n\nGiá vàng miếng sáng nay vượt mọi mức từng có.\n\n${article.url}`,
  )
  await page.locator('[data-media]').waitFor()
  const description = page.getByRole('textbox', { name: 'Description', disabled: false })
  expect(await description.inputValue()).toBe('Ảnh của Giá vàng lập kỷ lục mới')
  expect(await page.getByRole('checkbox', { name: /Track link clicks/ }).isChecked()).toBe(true)
  await page
    .getByLabel('Date and time')
    .fill(new Date(Date.now() + 86_400_000 + 7 * 3_600_000).toISOString().slice(0, 16))
  await page.getByRole('button', { name: 'Schedule', exact: true }).click()
  await page.waitForURL(/\/posts\//)
  await page.locator('[data-status=scheduled]').first().waitFor()
  const post = await api<Post>('GET', `/posts/${page.url().split('/').at(-1)}`)
  expect([post.status, post.track_links, post.attachments.length]).toEqual(['scheduled', true, 1])
  dashboard.fine()
})

test('an unavailable image does not prevent creating the post', async () => {
  const { page } = dashboard
  const { id } = await articleOf('Đội tuyển thắng trận mở màn')
  d.sql(`update articles set image_url = '${paper.address}gone.png' where id = '${id}'`)
  await dashboard.go(`/news/articles/${id}`)
  await page.getByRole('button', { name: 'Create post' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('checkbox', { name: /Lead/ }).uncheck()
  await dialog.getByRole('button', { name: 'Open in the composer' }).click()
  await dialog.getByText('The image could not be copied').waitFor()
  await dialog.getByRole('button', { name: 'Continue without the image' }).click()
  await page.waitForURL(/compose\?id=/)
  await page.getByRole('textbox', { name: 'Text', exact: true }).waitFor()
  expect(await page.getByRole('textbox', { name: 'Text', exact: true }).inputValue()).toMatch(
    /^Đội tuyển thắng trận mở màn\n\nhttp/,
  )
  dashboard.fine()
})

test('selectors are tried on a page, saved, rolled back and relearned', async () => {
  const { page } = dashboard
  await dashboard.go(`/news/domains/${domain}/selectors`)
  await page.getByLabel('Test page').first().click()
  await page.getByRole('option', { name: 'Giá vàng lập kỷ lục mới' }).click()
  const field = (name: string) => page.locator(`[data-field=${name}]`)
  await field('body').locator('[data-value]', { hasText: 'Giá vàng miếng sáng nay' }).waitFor()
  await field('authors').getByRole('textbox').fill('//b[@class="who"]')
  await field('authors').locator('[data-value]', { hasText: 'Mai Lan' }).waitFor()
  await page.locator('[data-gives=authors]', { hasText: 'selector' }).waitFor()
  await dashboard.accessible('selectors')
  await field('title').getByRole('textbox').fill('//h1[')
  await page.getByRole('alert').filter({ hasText: '//h1[' }).waitFor()
  await field('title').getByRole('textbox').fill('//article/h1')
  await field('title').locator('[data-value]', { hasText: 'Giá vàng lập kỷ lục mới' }).waitFor()
  await page.getByLabel(/^Reason/).fill('names the author')
  await page.getByRole('button', { name: 'Save as new version' }).click()
  // The site's selectors may have been learned meanwhile, as another version.
  const inUse = async (version: number) => page.locator(`[data-in-use="${version}"]`).waitFor()
  const newest = async () => Number(await page.locator('[data-selectors]').first().getAttribute('data-selectors'))
  await page.locator('[data-selectors]', { hasText: 'names the author' }).locator('[data-state=active]').waitFor()
  const first = await newest()
  await inUse(first)
  await field('section').getByRole('textbox').fill('//meta[@property="article:section"]/@content')
  await field('section').locator('[data-value]', { hasText: 'Kinh tế' }).waitFor()
  await page.getByRole('button', { name: 'Save as new version' }).click()
  await inUse(first + 1)
  await page.getByRole('button', { name: 'Roll back' }).click()
  await inUse(first)
  await page.locator(`[data-selectors="${first + 1}"] [data-state=rolled_back]`).waitFor()
  await page.getByRole('button', { name: `Activate: Version ${first + 1}` }).click()
  await inUse(first + 1)
  await page.getByRole('button', { name: `Edit a copy: Version ${first}` }).click()
  await until(
    'the editor to have the older version',
    async () => (await field('section').getByRole('textbox').inputValue()) === '',
  )
  await page.getByRole('button', { name: 'Relearn' }).click()
  await page
    .getByText(/Learning selectors/)
    .first()
    .waitFor()
  dashboard.fine()
})

test('a viewer is offered no actions', async () => {
  const { page } = dashboard
  const { id } = await articleOf('Giá vàng lập kỷ lục mới')
  d.sql("update members set role = 'viewer'")
  try {
    await dashboard.go(`/news/articles/${id}`)
    await page.locator('[data-version="1"]').waitFor()
    expect(await page.getByRole('button', { name: 'Create post' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Raw HTML' }).count()).toBe(0)
    await dashboard.go('/news?q=vang')
    await page.locator('[data-article]').first().waitFor()
    expect(await page.getByRole('button', { name: 'Save this search' }).count()).toBe(0)
    await dashboard.go(`/news/domains/${domain}/selectors`)
    await page.getByText('Your role does not allow this').waitFor()
    await page.locator('[data-in-use]').waitFor()
    expect(await page.getByRole('button', { name: /Roll back|Relearn|^Activate/ }).count()).toBe(0)
  } finally {
    d.sql("update members set role = 'owner'")
  }
  dashboard.fine()
})

test('the news pages are in Vietnamese', async () => {
  const { page } = dashboard
  await dashboard.go('/news')
  await page.evaluate(() => localStorage.setItem('dateline-language', 'vi'))
  for (const [path, heading] of [
    ['/news', 'Tin tức'],
    ['/news/saved', 'Tìm kiếm đã lưu'],
    ['/news/seeds', 'Nguồn tin'],
    ['/news/domains', 'Tên miền'],
    [`/news/domains/${domain}/selectors`, `Bộ chọn của ${domain}`],
    [`/news/domains/${domain}/extraction`, `Nội dung trích xuất của ${domain}`],
  ] as const) {
    await dashboard.go(path)
    await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor()
  }
  await page.evaluate(() => localStorage.setItem('dateline-language', 'en'))
  dashboard.fine()
})

test.each(looks)(
  'every page about news is accessible, in %s at %i px',
  async (...look) => {
    const { id } = await articleOf('Nước sông dâng cao sau mưa lớn')
    const saved = await api<{ saved_searches: unknown[] }>('GET', '/saved-searches')
    if (saved.saved_searches.length === 0)
      await api('POST', '/saved-searches', { name: 'Giá vàng', query: 'giá vàng', sections: ['Kinh tế'], alert: true })
    const pages = {
      news: '/news',
      'news-search': '/news?q=gia+vang',
      'news-article': `/news/articles/${id}`,
      'news-saved': '/news/saved',
      'news-seeds': '/news/seeds',
      'news-domains': '/news/domains',
      'news-domain': `/news/domains/${domain}`,
      'news-selectors': `/news/domains/${domain}/selectors`,
      'news-extraction': `/news/domains/${domain}/extraction`,
    }
    await lookAt(browser, d, look, pages, {
      'news-article': (page) => page.locator('[data-version="2"]').getByRole('button', { name: 'Changes' }).click(),
      'news-selectors': (page) => page.locator('[data-outcome]').waitFor(),
      'news-extraction': (page) => page.locator('[data-block]').first().waitFor(),
    })
  },
  240_000,
)

test('what is not part of a text is explained, and a mark changes the article', async () => {
  const { page } = dashboard
  const { id } = await articleOf('Giá vàng lập kỷ lục mới')
  await dashboard.go(`/news/domains/${domain}`)
  await page.getByRole('link', { name: 'Extracted text' }).click()
  await page.locator(`[data-page="${id}"]`).click()
  await page.getByRole('heading', { name: 'Giá vàng lập kỷ lục mới' }).waitFor()
  await page.locator('[data-block=title]', { hasText: 'Giá vàng lập kỷ lục mới' }).first().waitFor()
  const first = page.locator('[data-block=text] [data-user-text]').first()
  const words = ((await first.textContent()) ?? '').slice(0, 60)
  expect(words.length).toBeGreaterThan(30)
  await dashboard.accessible('extracted text')
  await shoot(dashboard, 'extracted-text')
  await page.locator('[data-block=text]').first().getByRole('button').click()
  await page.getByRole('menuitem', { name: 'This text, on every page' }).click()
  await page.locator('[data-block=marked]', { hasText: words }).first().waitFor()
  const text = async () => (await api<{ text: string }>('GET', `/articles/${id}`)).text
  await until('the article to be extracted again', async () => !(await text()).includes(words))
  await dashboard.accessible('extracted text with a mark')
  await page.locator('[data-mark]').getByRole('button').click()
  await page.locator('[data-block=text]', { hasText: words }).first().waitFor()
  await until('the text to be back', async () => (await text()).includes(words))
  dashboard.fine()
})

test('a list of 100,000 articles scrolls without a stall, and narrows to a day', async () => {
  const { page } = dashboard
  d.sql(`insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, published_at, first_seen_at, lead, body_text, body_html, content_hash, group_id, object_key, fetched_at)
    select u.id, c.id, u.id, u.id, 'https://many.example/' || n, 'https://many.example/' || n, 'Many ' || n, timestamptz '2001-01-01' + n * interval '1 hour', now(), 'One of many', '', '', '', u.id, '', now()
    from (select id from crawl_domains order by id limit 1) c, generate_series(1, 100000) n, lateral (select gen_random_uuid() id where n > 0) u`)
  await dashboard.go('/news')
  await scrollsFar(page, '[data-article]')
  await page.evaluate(() => scrollTo(0, 0))
  await page.getByLabel('Published').first().click()
  await page.getByRole('option', { name: 'Custom range' }).click()
  await page.getByLabel('From', { exact: true }).fill('2003-05-01')
  await page.getByLabel('To', { exact: true }).fill('2003-05-01')
  await until('one day to be left', async () => {
    const shown = await page.locator('[data-article]').allTextContents()
    return shown.length > 0 && shown.every((text) => text.includes('May 1, 2003'))
  })
  dashboard.fine()
}, 240_000)
