import { type Dateline, sample, until } from './harness'
import { readFileSync } from 'node:fs'

interface Account {
  id: string
  network: string
  handle: string
}
interface Post {
  id: string
  status: string
}

/** What the content fills pages with: ids for their addresses. */
export interface Content {
  site: string
  post: string
  article: string
  domain: string
}

const texts = [
  'Nước sông dâng cao: hàng trăm hộ dân được di dời trong đêm. Cập nhật liên tục tại đây: https://news.example/nuoc-song',
  'Giá vàng lập kỷ lục mới sáng nay. Chuyên gia nói gì? #kinhte',
  'Đội tuyển thắng trận mở màn 2-1. Xem lại hai bàn thắng trong hiệp hai 👇',
  'Thư viện mới mở cửa đón bạn đọc: ba tầng sách và một phòng đọc cho trẻ em.',
  'Thời tiết cuối tuần: miền Bắc rét về đêm, miền Trung có mưa rào.',
  'Bản tin tối: ba câu chuyện không nên bỏ lỡ hôm nay.',
]

/** Fills a workspace with what a newsroom has after some weeks. */
export async function fill(d: Dateline): Promise<Content> {
  const api = <T>(method: string, path: string, body?: unknown) => d.send<T>(method, `/api/v1${path}`, body)
  const accounts = async () => (await api<{ accounts: Account[] }>('GET', '/accounts')).accounts
  const at = (days: number, clock: string) =>
    `${new Date(Date.now() + days * 86_400_000 + 7 * 3_600_000).toISOString().slice(0, 10)}T${clock}:00+07:00`
  for (const network of ['bluesky', 'telegram', 'discord']) {
    const { networks } = await api<{ networks: { name: string; sandbox_values?: Record<string, string> }[] }>(
      'GET',
      '/networks',
    )
    await api('POST', '/accounts/form', {
      network,
      sandbox: true,
      values: networks.find((n) => n.name === network)?.sandbox_values ?? {},
    })
  }
  const all = await accounts()
  const of = (network: string) => all.find((a) => a.network === network)?.id ?? ''
  await api('POST', '/account-groups', {
    name: 'Ban Thời sự',
    color: 'blue',
    accounts: [of('mastodon'), of('bluesky')],
    slots: [1, 2, 3, 4, 5, 6, 7].flatMap((weekday) => ['07:30', '12:00', '18:30'].map((time) => ({ weekday, time }))),
  })
  const label = await api<{ id: string }>('POST', '/labels', { name: 'Thời sự', color: 'blue', kind: 'label' })
  const campaign = await api<{ id: string }>('POST', '/labels', { name: 'Tết 2027', color: 'red', kind: 'campaign' })
  const posts: Post[] = []
  for (const [i, content] of texts.entries()) {
    for (const clock of ['09:15', '14:00'])
      posts.push(
        await api<Post>('POST', '/posts', {
          content: `${content}${clock === '14:00' ? ' (phần 2)' : ''}`,
          accounts: i % 2 ? [of('mastodon'), of('bluesky')] : [of('mastodon')],
          scheduled_time: at(1 + i, clock),
        }),
      )
  }
  await api('POST', '/posts/labels', { posts: posts.slice(0, 5).map((p) => p.id), add: [label.id] })
  await api('POST', '/posts/labels', { posts: posts.slice(4, 8).map((p) => p.id), add: [campaign.id] })
  await api('POST', '/posts', {
    content: 'Bản nháp: phỏng vấn kiến trúc sư của thư viện mới',
    accounts: [of('mastodon')],
    draft: true,
  })
  await api('POST', '/series', {
    rule: 'FREQ=WEEKLY;BYDAY=MO,TH',
    starts: at(1, '06:30').slice(0, 19),
    template: { content: 'Bản tin sáng: thời tiết và giao thông hôm nay', accounts: [of('mastodon')] },
  })
  const form = new FormData()
  form.set('alt_text', 'Bình minh trên đồi chè')
  form.set('file', new Blob([readFileSync(sample())], { type: 'image/png' }), 'binh-minh.png')
  await fetch(`${d.api}/api/v1/media`, { method: 'POST', headers: { Authorization: `Bearer ${d.token}` }, body: form })
  // One that is published, and two that need attention.
  const now = await api<Post>('POST', '/posts', {
    content: 'Tin nhanh: cầu tạm thông xe từ 5 giờ sáng mai. https://news.example/cau-tam',
    accounts: [of('mastodon'), of('bluesky')],
    scheduled_time: new Date(Date.now() + 2000).toISOString(),
    track_links: true,
  })
  const status = async (id: string) => (await api<Post>('GET', `/posts/${id}`)).status
  await until('the post to be published', async () => (await status(now.id)) === 'posted', 150_000)
  for (const content of ['Bảng giá nông sản tuần này', 'Lịch cắt điện cuối tuần']) {
    await d.faults({
      kind: 'status',
      status: 422,
      method: 'POST',
      path: '/api/v1/statuses',
      body: '{"error":"Validation failed: Text character limit of 500 exceeded"}',
    })
    const failed = await api<Post>('POST', '/posts', {
      content,
      accounts: [of('mastodon')],
      scheduled_time: new Date(Date.now() + 2000).toISOString(),
    })
    await until('it to fail', async () => (await status(failed.id)) === 'failed', 150_000)
  }
  await d.faults()
  await api('POST', '/saved-searches', { name: 'Xe buýt', query: 'xe buýt', alert: true })
  await api('POST', '/rules', {
    name: 'Tin thể thao',
    definition: {
      trigger: { sections: ['Thể thao'] },
      conditions: { max_age_hours: 24 },
      templates: { default: '{title}\n\n{url}' },
      image: 'none',
      track_links: true,
      account_ids: [of('mastodon')],
      timing: { when: 'delay', delay_minutes: 30 },
      mode: 'approval',
      max_per_hour: 5,
      max_per_day: 20,
    },
  })
  await api('POST', '/webhooks', {
    url: 'https://news.example/hooks/dateline',
    types: ['post.posted', 'post.failed'],
  }).catch(() => undefined)
  const site = await audience(d)
  interface Article {
    id: string
    domain: string
  }
  let articles: Article[] = []
  await until(
    'articles',
    async () => {
      articles = (await api<{ articles: Article[] }>('GET', '/articles?limit=20')).articles
      return articles.length > 5
    },
    120_000,
  )
  return { site, post: now.id, article: articles[0]?.id ?? '', domain: articles[0]?.domain ?? '' }
}

/** A site with the numbers of 120 days, inserted directly. */
async function audience(d: Dateline): Promise<string> {
  const { site } = await d.send<{ site: { id: string; write_key: string } }>('POST', '/api/v1/sites', {
    name: 'Báo Mai',
    time_zone: 'Asia/Ho_Chi_Minh',
  })
  const view = () =>
    fetch(`${d.api}/v1/view`, {
      method: 'POST',
      body: JSON.stringify({ site: site.write_key, page: '/thoi-su/nuoc-song-dang-cao' }),
      headers: {
        'Content-Type': 'application/json',
        'Accept-Language': 'vi',
        'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
      },
    })
  await until('the key to be known', async () => (await view()).status === 202)
  const today = new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 10)
  const report = () =>
    d.send<{ period: { totals: { views?: number } } }>(
      'GET',
      `/api/v1/sites/${site.id}/report?from=${today}&to=${today}&by=days`,
    )
  await until('the view to be stored', async () => ((await report()).period.totals.views ?? 0) > 0, 150_000)
  d.sql(`
    insert into view_pages (site_id, page, unique_method)
      select '${site.id}', x.page, 'hyperloglog' from (values ('/thoi-su/nuoc-song-dang-cao'), ('/kinh-te/gia-vang-lap-ky-luc'), ('/the-thao/doi-tuyen-thang-tran'), ('/van-hoa/thu-vien-moi')) x (page) on conflict do nothing;
    insert into site_days (site_id, day, views, clicks, conversions, visits, second_views, recirculation, visitors, sketch_due, pages_due)
      select '${site.id}', (now() at time zone 'Asia/Ho_Chi_Minh')::date - n, v, v / 40, v / 300, v * 4 / 10, v / 10, v / 4, v * 3 / 10, false, false
        from generate_series(1, 120) n, lateral (select 18000 + (6000 * sin(n / 7.0 * 2 * pi()))::int + (n * 7919) % 2500 as v) x;
    insert into site_dimension_days (site_id, dimension, day, value, views, visits)
      select '${site.id}', x.dimension, (now() at time zone 'Asia/Ho_Chi_Minh')::date - n, x.value, x.visits * 2, x.visits from generate_series(1, 120) n,
        (values ('channel', 'search', 2500), ('channel', 'direct', 1500), ('channel', 'social', 1900), ('channel', 'referral', 300), ('source', 'google.com', 2400), ('source', 'facebook.com', 1700), ('source', 'direct', 1500),
          ('campaign', 'tet-2027', 400), ('country', 'VN', 6300), ('country', 'US', 240), ('country', 'FR', 90), ('device', 'mobile', 4900), ('device', 'desktop', 1400), ('device', 'tablet', 160),
          ('browser', 'Chrome', 3800), ('browser', 'Safari', 1500), ('browser', 'Cốc Cốc', 900), ('os', 'Android', 3300), ('os', 'iOS', 1700), ('os', 'Windows', 1200)) x (dimension, value, visits);
    insert into site_page_days (site_id, day, page_id, views, visitors, entries, recirculation)
      select '${site.id}', (now() at time zone 'Asia/Ho_Chi_Minh')::date - n, p.id, 300 + (abs(hashtext(p.page)) % 900), 120, 90, 40 from generate_series(1, 120) n, view_pages p where p.site_id = '${site.id}'`)
  return site.id
}
