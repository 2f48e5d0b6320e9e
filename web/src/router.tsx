import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { base } from './boot'
import { Broken, NotFound } from './components/states'
import { Shell } from './components/Shell'
import { loaded } from './lib/loading'
import { newsSearch } from './lib/news'
import { calendarSearch } from './pages/calendar/search'
import { readersSearch } from './pages/readers/search'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Broken })

const index = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/calendar' })
  },
})

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

const calendar = createRoute({
  getParentRoute: () => root,
  path: '/calendar',
  validateSearch: calendarSearch,
  component: lazyRouteComponent(() => loaded(() => import('./pages/calendar')), 'CalendarPage'),
})

const compose = createRoute({
  getParentRoute: () => root,
  path: '/compose',
  validateSearch: (
    search: Record<string, unknown>,
  ): { id?: string; at?: string; queue?: string; repeat?: boolean } => ({
    id: text(search.id),
    at: text(search.at),
    queue: text(search.queue),
    repeat: search.repeat === true || undefined,
  }),
  component: lazyRouteComponent(() => loaded(() => import('./pages/compose')), 'ComposePage'),
})

const post = createRoute({
  getParentRoute: () => root,
  path: '/posts/$id',
  component: lazyRouteComponent(() => loaded(() => import('./pages/post')), 'PostPage'),
})

const series = createRoute({
  getParentRoute: () => root,
  path: '/series',
  validateSearch: (search: Record<string, unknown>): { status?: string } => ({ status: text(search.status) }),
  component: lazyRouteComponent(() => loaded(() => import('./pages/series')), 'SeriesPage'),
})

const rules = createRoute({
  getParentRoute: () => root,
  path: '/rules',
  component: lazyRouteComponent(() => loaded(() => import('./pages/rules')), 'RulesPage'),
})

const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
  validateSearch: (search: Record<string, unknown>): { post?: string } => ({ post: text(search.post) }),
  component: lazyRouteComponent(() => loaded(() => import('./pages/approvals')), 'ApprovalsPage'),
})

const deadLetters = createRoute({
  getParentRoute: () => root,
  path: '/dead-letters',
  validateSearch: (search: Record<string, unknown>): { reason?: string; network?: string } => ({
    reason: text(search.reason),
    network: text(search.network),
  }),
  component: lazyRouteComponent(() => loaded(() => import('./pages/dead-letters')), 'DeadLettersPage'),
})

const imports = createRoute({
  getParentRoute: () => root,
  path: '/import',
  component: lazyRouteComponent(() => loaded(() => import('./pages/import')), 'ImportPage'),
})

const accounts = createRoute({
  getParentRoute: () => root,
  path: '/accounts',
  validateSearch: (search: Record<string, unknown>): { refused?: string; connected?: string; choice?: string } => ({
    refused: text(search.refused),
    connected: text(search.connected),
    choice: text(search.choice),
  }),
  component: lazyRouteComponent(() => loaded(() => import('./pages/accounts')), 'AccountsPage'),
})

const media = createRoute({
  getParentRoute: () => root,
  path: '/media',
  component: lazyRouteComponent(() => loaded(() => import('./pages/media')), 'MediaPage'),
})

const readers = createRoute({
  getParentRoute: () => root,
  path: '/readers',
  validateSearch: readersSearch,
  component: lazyRouteComponent(() => loaded(() => import('./pages/readers')), 'ReadersPage'),
})

const news = [
  createRoute({
    getParentRoute: () => root,
    path: '/news',
    validateSearch: newsSearch,
    component: lazyRouteComponent(() => loaded(() => import('./pages/news')), 'NewsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/news/stories',
    validateSearch: (
      search: Record<string, unknown>,
    ): { order?: 'rising'; coverage?: 'covered' | 'uncovered'; lang?: string; owners?: number } => ({
      order: search.order === 'rising' ? 'rising' : undefined,
      coverage: search.coverage === 'covered' || search.coverage === 'uncovered' ? search.coverage : undefined,
      lang: text(search.lang),
      owners: typeof search.owners === 'number' && search.owners > 1 ? Math.floor(search.owners) : undefined,
    }),
    component: lazyRouteComponent(() => loaded(() => import('./pages/stories')), 'StoriesPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/news/stories/$id',
    component: lazyRouteComponent(() => loaded(() => import('./pages/stories/Story')), 'StoryPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/news/articles/$id',
    component: lazyRouteComponent(() => loaded(() => import('./pages/article')), 'ArticlePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/news/watches',
    component: lazyRouteComponent(() => loaded(() => import('./pages/watches')), 'WatchesPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/news/saved',
    component: lazyRouteComponent(() => loaded(() => import('./pages/saved')), 'SavedPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/news/seeds',
    component: lazyRouteComponent(() => loaded(() => import('./pages/sources/SeedsPage')), 'SeedsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/news/domains',
    component: lazyRouteComponent(() => loaded(() => import('./pages/sources/DomainsPage')), 'DomainsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/news/domains/$domain',
    component: lazyRouteComponent(() => loaded(() => import('./pages/domain')), 'DomainPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/news/domains/$domain/extraction',
    validateSearch: (search: Record<string, unknown>): { article?: string } => ({ article: text(search.article) }),
    component: lazyRouteComponent(() => loaded(() => import('./pages/extraction')), 'ExtractionPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/news/domains/$domain/selectors',
    validateSearch: (search: Record<string, unknown>): { article?: string } => ({ article: text(search.article) }),
    component: lazyRouteComponent(() => loaded(() => import('./pages/selectors')), 'SelectorsPage'),
  }),
] as const

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: (search: Record<string, unknown>): { tab?: string } => ({ tab: text(search.tab) }),
  component: lazyRouteComponent(() => loaded(() => import('./pages/settings')), 'SettingsPage'),
})

const system = createRoute({
  getParentRoute: () => root,
  path: '/system',
  validateSearch: (search: Record<string, unknown>): { tab?: string; invite?: string } => ({
    tab: text(search.tab),
    invite: text(search.invite),
  }),
  component: lazyRouteComponent(() => loaded(() => import('./pages/system')), 'SystemPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    index,
    calendar,
    compose,
    post,
    series,
    rules,
    approvals,
    deadLetters,
    imports,
    accounts,
    media,
    readers,
    ...news,
    settings,
    system,
  ]),
  basepath: `${base}/app`,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
