import '@mantine/spotlight/styles.css'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { useDebouncedValue } from '@mantine/hooks'
import {
  IconAlertOctagon,
  IconBaselineDensityMedium,
  IconBolt,
  IconCalendarEvent,
  IconCalendarMonth,
  IconChartBar,
  IconFileImport,
  IconFileText,
  IconKeyboard,
  IconLanguage,
  IconMoon,
  IconNews,
  IconPencilPlus,
  IconPhoto,
  IconRepeat,
  IconRobot,
  IconRss,
  IconSearch,
  IconEye,
  IconServer,
  IconSettings,
  IconSun,
  IconTopologyStar3,
  IconUserCheck,
  IconUserPlus,
  IconUsersGroup,
  type IconProps,
} from '@tabler/icons-react'
import { useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ComponentType, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../api/client'
import { chooseLanguage, type Language, languages } from '../i18n'
import { NotLoaded } from './states'
import { useDensity } from '../lib/density'
import { fold } from '../lib/fold'
import { repeated } from '../lib/newsQueries'
import { accountsQuery, sitesQuery } from '../lib/queries'
import { useAtLeast, useMe } from '../lib/session'
import { format } from '../lib/time'
import { sharePreference } from '../lib/preferences'
import { useCommands, useShowShortcuts } from './Shortcuts'
import { networkName } from './network'
import { statusOf } from './status'

interface Item {
  id: string
  label: string
  description?: string
  icon: ComponentType<IconProps>
  run: () => void
}

const perGroup = 6

/** The dialog's name is for screen readers; others see the field. */
const hidden = {
  position: 'absolute',
  width: 1,
  height: 1,
  minHeight: 0,
  padding: 0,
  overflow: 'hidden',
  clipPath: 'inset(50%)',
} as const

const [store, spotlight] = createSpotlight()

/** Opens the palette; it is loaded when it is first asked for. */
export const openPalette = () => spotlight.open()

/** Finds posts, articles, sites, pages and actions from everywhere, by keyboard. */
export default function Palette() {
  const { t, i18n } = useTranslation()
  const me = useMe()
  const navigate = useNavigate()
  const may = useAtLeast('author')
  const mayEdit = useAtLeast('editor')
  const showKeys = useShowShortcuts()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [density, setDensity] = useDensity()
  const [query, setQuery] = useState('')
  const [opened, setOpened] = useState(true)
  const [asked] = useDebouncedValue(query.trim(), 200)
  const enabled = opened && asked.length > 1
  const foundPosts = useQuery({
    queryKey: ['posts', 'palette', asked],
    enabled,
    gcTime: 30_000,
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET('/api/v1/posts', { signal, params: { query: { q: asked, limit: perGroup } } }))).posts,
  })
  const posts = foundPosts.data
  const foundArticles = useQuery({
    queryKey: ['palette', 'articles', asked],
    enabled,
    gcTime: 30_000,
    retry: false,
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET('/api/v1/search', {
            signal,
            params: { query: { q: asked, limit: perGroup } },
            querySerializer: repeated,
          }),
        )
      ).hits,
  })
  const articles = foundArticles.data
  const sites = useQuery({ ...sitesQuery, enabled: opened }).data ?? []
  const to =
    (
      path:
        | '/calendar'
        | '/series'
        | '/rules'
        | '/approvals'
        | '/dead-letters'
        | '/accounts'
        | '/media'
        | '/readers'
        | '/news'
        | '/news/stories'
        | '/news/watches'
        | '/news/saved'
        | '/news/seeds'
        | '/settings'
        | '/system'
        | '/compose'
        | '/import',
    ) =>
    () =>
      void navigate({ to: path })
  const owner = useAtLeast('owner')
  const accounts = useQuery({ ...accountsQuery, enabled: opened }).data ?? []
  // What can be done on the open page and with its object.
  const here = useCommands()().filter((g) => g.title !== t('keys.everywhere'))
  const otherDensity = density === 'compact' ? 'comfortable' : 'compact'
  const scheme = colorScheme === 'dark' ? 'light' : 'dark'
  const actions: Item[] = [
    ...(may
      ? [
          { id: 'new', label: t('nav.newPost'), icon: IconPencilPlus, run: to('/compose') },
          {
            id: 'repeat',
            label: t('series.new'),
            icon: IconRepeat,
            run: () => void navigate({ to: '/compose', search: { repeat: true } }),
          },
          { id: 'import', label: t('import.title'), icon: IconFileImport, run: to('/import') },
        ]
      : []),
    ...(owner
      ? (['editor', 'author', 'viewer'] as const).map((role) => ({
          id: `invite ${role}`,
          label: t(`palette.invite.${role}`),
          icon: IconUserPlus,
          run: () => void navigate({ to: '/system', search: { tab: 'members', invite: role } }),
        }))
      : []),
    {
      id: 'scheme',
      label: t(`palette.${scheme}`),
      icon: scheme === 'dark' ? IconMoon : IconSun,
      run: () => {
        setColorScheme(scheme)
        sharePreference('scheme', scheme)
      },
    },
    {
      id: 'density',
      label: t(`palette.density.${otherDensity}`),
      icon: IconBaselineDensityMedium,
      run: () => setDensity(otherDensity),
    },
    ...(Object.keys(languages) as Language[])
      .filter((code) => code !== i18n.language)
      .map((code) => ({
        id: code,
        label: languages[code].name,
        description: t('nav.language'),
        icon: IconLanguage,
        run: () => void chooseLanguage(code),
      })),
    { id: 'keys', label: t('keys.title'), icon: IconKeyboard, run: showKeys },
  ]
  const pages: Item[] = [
    { id: 'calendar', label: t('nav.calendar'), icon: IconCalendarMonth, run: to('/calendar') },
    {
      id: 'agenda',
      label: t('calendar.views.agenda'),
      description: t('nav.calendar'),
      icon: IconCalendarEvent,
      run: () => void navigate({ to: '/calendar', search: { view: 'agenda' } }),
    },
    { id: 'series', label: t('nav.series'), icon: IconRepeat, run: to('/series') },
    { id: 'rules', label: t('nav.rules'), icon: IconRobot, run: to('/rules') },
    { id: 'approvals', label: t('nav.approvals'), icon: IconUserCheck, run: to('/approvals') },
    { id: 'dead', label: t('nav.deadLetters'), icon: IconAlertOctagon, run: to('/dead-letters') },
    { id: 'accounts', label: t('nav.accounts'), icon: IconUsersGroup, run: to('/accounts') },
    { id: 'media', label: t('nav.media'), icon: IconPhoto, run: to('/media') },
    { id: 'readers', label: t('nav.readers'), icon: IconChartBar, run: to('/readers') },
    { id: 'news', label: t('nav.news'), icon: IconNews, run: to('/news') },
    { id: 'stories', label: t('stories.title'), icon: IconTopologyStar3, run: to('/news/stories') },
    { id: 'watches', label: t('news.watches'), icon: IconEye, run: to('/news/watches') },
    { id: 'saved', label: t('palette.saved'), icon: IconSearch, run: to('/news/saved') },
    { id: 'seeds', label: t('palette.sources'), icon: IconRss, run: to('/news/seeds') },
    { id: 'settings', label: t('nav.settings'), icon: IconSettings, run: to('/settings') },
    { id: 'system', label: t('nav.system'), icon: IconServer, run: to('/system') },
    ...(mayEdit
      ? (['notifications', 'members', 'tokens', 'webhooks', 'audit'] as const)
      : (['notifications'] as const)
    ).map((tab) => ({
      id: tab,
      label: t(`system.${tab}`),
      description: t('nav.system'),
      icon: IconServer,
      run: () => void navigate({ to: '/system', search: { tab } }),
    })),
    ...accounts.map((a) => ({
      id: a.id,
      label: t('accounts.postsOf', { name: `${networkName(a.network)} ${a.handle}` }),
      description: a.label ?? a.name,
      icon: IconCalendarMonth,
      run: () => void navigate({ to: '/calendar', search: { view: 'month' as const, account: a.id } }),
    })),
    ...sites.map((s) => ({
      id: s.id,
      label: s.name,
      description: t('nav.readers'),
      icon: IconChartBar,
      run: () => void navigate({ to: '/readers', search: { site: s.id } }),
    })),
  ]
  const words = fold(query.trim())
  const matching = (all: Item[]) => all.filter((i) => fold(i.label).includes(words)).slice(0, words ? perGroup : 20)
  const found: Record<'here' | 'actions' | 'pages' | 'posts' | 'articles', Item[]> = {
    here: matching(
      here.flatMap((g) =>
        g.all.map(({ keys, label, run }) => ({
          id: `${g.title} ${label}`,
          label,
          description: keys ? `${g.title} · ${keys}` : g.title,
          icon: IconBolt,
          run,
        })),
      ),
    ),
    actions: matching(actions),
    posts: (enabled ? (posts ?? []) : []).map((p) => ({
      id: p.id,
      label: p.content.slice(0, 90) || t('post.noText'),
      icon: IconFileText,
      run: () => void navigate({ to: '/posts/$id', params: { id: p.id } }),
      description: [
        t(`status.${statusOf(p)}`),
        p.scheduled_time &&
          format(p.scheduled_time, i18n.language, me.workspace.time_zone, {
            day: 'numeric',
            month: 'short',
            hour: '2-digit',
            minute: '2-digit',
            hourCycle: 'h23',
          }),
      ]
        .filter(Boolean)
        .join(' · '),
    })),
    articles: (enabled ? (articles ?? []) : []).map((a) => ({
      id: a.id,
      label:
        a.heading
          .map((f) => f.text)
          .join('')
          .slice(0, 110) || a.domain,
      description: a.domain,
      icon: IconNews,
      run: () => void navigate({ to: '/news/articles/$id', params: { id: a.id } }),
    })),
    pages: matching(pages),
  }
  // Enter runs the first of what was found. Spotlight selects it when the words change, before the list follows.
  useEffect(() => {
    const first = document.querySelector('[data-palette]')
    if (!opened || !first || document.querySelector('[data-palette][data-selected]')) return
    first.setAttribute('data-selected', 'true')
    store.updateState((s) => ({ ...s, selected: 0 }))
  })
  const groups = (['here', 'actions', 'posts', 'articles', 'pages'] as const).filter((g) => found[g].length > 0)
  return (
    <Spotlight.Root
      store={store}
      shortcut={null}
      query={query}
      onQueryChange={setQuery}
      onSpotlightOpen={() => setOpened(true)}
      onSpotlightClose={() => setOpened(false)}
      scrollable
      maxHeight="min(70dvh, 560px)"
      title={t('palette.title')}
      transitionProps={{ duration: 150 }}
      styles={{ header: hidden }}
    >
      <Spotlight.Search
        placeholder={t('palette.placeholder')}
        aria-label={t('palette.title')}
        leftSection={<IconSearch size={20} aria-hidden />}
      />
      <Spotlight.ActionsList aria-live="polite">
        {groups.map((g) => (
          <Spotlight.ActionsGroup key={g} label={t(`palette.groups.${g}`)}>
            {found[g].map(({ id, label, description, icon: Icon, run }) => (
              <Spotlight.Action
                key={id}
                label={label}
                description={description}
                leftSection={<Icon size={20} aria-hidden />}
                onClick={run}
                data-palette={g}
              />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {enabled && <NotLoaded what={t('palette.title')} queries={[foundPosts, foundArticles]} />}
        {groups.length === 0 && !foundPosts.error && <Spotlight.Empty>{t('state.nothing')}</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}
