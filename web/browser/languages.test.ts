import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { type Content, fill } from './demo'
import { Dateline, Dashboard, shoot, startBrowser } from './harness'

// Every page in both languages, empty and with content: no English text is left in the Vietnamese dashboard, and axe
// finds nothing serious. With LOOKS (`all`, or some like vi-dark-360), in these
// color schemes and widths; only then with content, which takes minutes.

type Look = [language: 'en' | 'vi', scheme: 'light' | 'dark', width: number]
const everyLook: Look[] = (['en', 'vi'] as const).flatMap((language) =>
  (['light', 'dark'] as const).flatMap((scheme) => [1440, 360].map((width): Look => [language, scheme, width])),
)
const wanted = (process.env.LOOKS ?? '').split(',').filter((l) => l !== '')
const looksOf = (few: Look[]) =>
  wanted.length > 0 ? everyLook.filter((l) => wanted.includes('all') || wanted.includes(l.join('-'))) : few
const only = (process.env.PAGES ?? '').split(',').filter((p) => p !== '')

const d = new Dateline()
let browser: Browser
let content: Content

beforeAll(async () => {
  await d.prepare({ DATELINE_CRAWL_DELAY: '100ms' })
  await d.start()
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await d.remove()
})

const empty: Record<string, string> = {
  calendar: '/calendar',
  agenda: '/calendar?view=agenda',
  list: '/calendar?view=list',
  series: '/series',
  rules: '/rules',
  'dead-letters': '/dead-letters',
  approvals: '/approvals',
  settings: '/settings',
  'settings-sites': '/settings?tab=sites',
  accounts: '/accounts',
  media: '/media',
  compose: '/compose',
  import: '/import',
  readers: '/readers',
  news: '/news',
  'news-saved': '/news/saved',
  'news-seeds': '/news/seeds',
  'news-domains': '/news/domains',
  system: '/system',
  'system-notifications': '/system?tab=notifications',
  'system-members': '/system?tab=members',
  'system-tokens': '/system?tab=tokens',
  'system-webhooks': '/system?tab=webhooks',
  'system-audit': '/system?tab=audit',
}
const full = (c: Content): Record<string, string> => ({
  ...empty,
  week: '/calendar?view=week',
  day: '/calendar?view=day',
  post: `/posts/${c.post}`,
  'compose-repeat': '/compose?repeat=true',
  readers: `/readers?site=${c.site}&compare=previous`,
  'readers-live': `/readers?site=${c.site}&tab=live`,
  'readers-authors': `/readers?site=${c.site}&tab=authors`,
  'readers-goals': `/readers?site=${c.site}&tab=goals`,
  'readers-posts': `/readers?site=${c.site}&tab=posts`,
  'news-search': '/news?q=xe+buyt',
  article: `/news/articles/${c.article}`,
  domain: `/news/domains/${c.domain}`,
  selectors: `/news/domains/${c.domain}/selectors`,
})

interface Shown {
  text: string
  attribute?: string
}

/** The texts of the page that are the dashboard's own: not code, names, quotes, or what users wrote. */
const shownTexts = (page: Page) =>
  page.evaluate(() => {
    const found: Shown[] = []
    const foreign = 'code, pre, kbd, [lang]:not(html), script, style, textarea, [data-user-text]'
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement
      const text = node.textContent?.trim() ?? ''
      if (parent && text !== '' && parent.checkVisibility() && !parent.closest(foreign)) found.push({ text })
    }
    for (const attribute of ['aria-label', 'placeholder', 'title', 'alt'])
      for (const e of document.querySelectorAll(`[${attribute}]`)) {
        const text = e.getAttribute(attribute)?.trim() ?? ''
        if (text !== '' && e.checkVisibility() && !e.closest(foreign)) found.push({ text, attribute })
      }
    return found
  }) as Promise<Shown[]>

const catalog = (name: string) =>
  JSON.parse(readFileSync(new URL(`../src/i18n/${name}.json`, import.meta.url), 'utf8')) as object
const flat = (o: object): [string, string][] =>
  Object.entries(o).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [[key, value] as [string, string]]
      : flat(value as object).map(([k, v]): [string, string] => [`${key}.${k}`, v]),
  )
const vietnamese = new Map(flat(catalog('vi')))
const same = new Set(vietnamese.values())
/** English texts without values that are different in Vietnamese. */
const english = new Set(
  flat(catalog('en'))
    .filter(([key, text]) => !text.includes('{{') && vietnamese.get(key) !== text && !same.has(text))
    .map(([, text]) => text),
)
const words =
  /\b(the|is|are|was|were|has|have|not|and|or|for|with|from|this|that|it|its|you|your|of|to|on|in|at|by|an|no)\b/gi

/** Whether a text is English: a text of the English catalog, or words that English sentences have and Vietnamese ones do not. */
function isEnglish(text: string): boolean {
  if (english.has(text)) return true
  return !/[à-ỹđ]/i.test(text) && text.split(/\s+/).length > 3 && (text.match(words)?.length ?? 0) >= 2
}

async function visit(look: Look, pages: Record<string, string>, folder: string, written: string): Promise<void> {
  const [language, colorScheme, width] = look
  const dashboard = await Dashboard.open(browser, d, {
    colorScheme,
    viewport: { width, height: width < 600 ? 740 : 1000 },
    timezoneId: 'Asia/Ho_Chi_Minh',
  })
  const { page } = dashboard
  await dashboard.login(await d.link())
  await page.evaluate((l) => localStorage.setItem('dateline-language', l), language)
  const problems: string[] = []
  for (const [name, path] of Object.entries(pages)) {
    if (only.length > 0 && !only.includes(name)) continue
    await dashboard.go(path)
    await page.waitForLoadState('load')
    await page
      .locator('[role=status][aria-label^=Loading], [role=status][aria-label^="Đang tải"]')
      .first()
      .waitFor({ state: 'detached' })
    await dashboard.live()
    problems.push(...(await dashboard.barriers()).map((b) => `${name}: ${b}`))
    if (language === 'vi')
      problems.push(
        ...(await shownTexts(page))
          .filter(({ text }) => isEnglish(text) && !written.includes(text))
          .map(({ text, attribute }) => `${name}: English${attribute ? ` ${attribute}` : ''}: ${text}`),
      )
    if (process.env.LOOKS && process.env.SCREENSHOTS)
      await page.screenshot({
        path: `${process.env.SCREENSHOTS}/${folder}-${name}-${look.join('-')}.png`,
        fullPage: true,
        animations: 'disabled',
      })
  }
  await dashboard.close()
  expect([...new Set(problems)]).toEqual([])
}

/** The names of the workspace and its members. */
const names = async () => JSON.stringify([await d.send('GET', '/api/v1/me'), await d.send('GET', '/api/v1/members')])

test.each(looksOf([['vi', 'light', 1440]]))(
  'every empty page, in %s, %s, at %i px',
  async (...look) => {
    await visit(look, empty, 'empty', await names())
  },
  300_000,
)

test.runIf(process.env.LOOKS)(
  'content',
  async () => {
    content = await fill(d)
  },
  600_000,
)

test.runIf(process.env.LOOKS).each(looksOf([['vi', 'light', 1440]]))(
  'every page with content, in %s, %s, at %i px',
  async (...look) => {
    const [posts, articles] = await Promise.all(
      ['/api/v1/posts?limit=200', '/api/v1/articles?limit=200'].map((path) => d.send<object>('GET', path)),
    )
    await visit(look, full(content), 'full', JSON.stringify([posts, articles, await names()]))
  },
  400_000,
)

test.runIf(process.env.LOOKS)(
  'pages outside the dashboard',
  async () => {
    for (const [language, scheme, width] of looksOf([])) {
      const dashboard = await Dashboard.open(browser, d, {
        colorScheme: scheme,
        locale: language === 'vi' ? 'vi-VN' : 'en-GB',
        viewport: { width, height: 740 },
      })
      for (const [name, path] of [
        ['login', '/login'],
        ['login-used', '/login/once/nothing'],
      ] as const) {
        await dashboard.page.goto(d.api + path)
        await shoot(dashboard, `outside-${name}-${language}-${scheme}-${width}`)
      }
      await dashboard.close()
    }
  },
  120_000,
)
