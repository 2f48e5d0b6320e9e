import { ActionIcon, Anchor, AppShell, Badge, Box, Burger, Button, Group, Loader, NavLink, Text } from '@mantine/core'
import { useDisclosure, useHotkeys, useMediaQuery } from '@mantine/hooks'
import {
  IconAlertOctagon,
  IconBuildingCommunity,
  IconCalendarMonth,
  IconChartBar,
  IconChevronDown,
  IconExternalLink,
  IconNews,
  IconPencilPlus,
  IconPhoto,
  type IconProps,
  IconRepeat,
  IconRobot,
  IconSearch,
  IconServer,
  IconSettings,
  IconUserCheck,
  IconUserCircle,
  IconUsersGroup,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import {
  type ComponentType,
  lazy,
  type PointerEvent,
  type ReactElement,
  Suspense,
  useEffect,
  useRef,
  useState,
} from 'react'
import { useTranslation } from 'react-i18next'
import { base, sandbox, temporalUI } from '../boot'
import { LiveProvider, useConnection } from '../lib/live'
import { approvalsQuery, deadCountsQuery, maxApprovals } from '../lib/queries'
import { ShortcutsProvider, useShortcuts } from './Shortcuts'
import { SessionProvider, useAtLeast, useMe } from '../lib/session'
import { useUploads } from '../lib/uploads'
import icon from '../icon.svg'
import { LinkButton } from './links'
import { loaded } from '../lib/loading'
import { watchCutText } from '../lib/cutText'

const Palette = lazy(() => loaded(() => import('./Palette')))
// Menus, and what places them, are not needed to show the page.
const Workspaces = lazy(() => loaded(() => import('./Menus')).then((m) => ({ default: m.WorkspaceMenu })))
const User = lazy(() => loaded(() => import('./Menus')).then((m) => ({ default: m.UserMenu })))
const Hint = lazy(() => loaded(() => import('./Menus')).then((m) => ({ default: m.Hint })))

export function Shell() {
  return (
    <SessionProvider>
      <ShortcutsProvider>
        <Frame />
      </ShortcutsProvider>
    </SessionProvider>
  )
}

function Frame() {
  const me = useMe()
  const { t, i18n } = useTranslation()
  const [opened, { toggle, close }] = useDisclosure()
  const narrow = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false })
  const burger = useRef<HTMLButtonElement>(null)
  // The open menu covers the page, whose controls cannot be reached until it is closed.
  const covers = opened && narrow
  useEffect(() => {
    if (!covers) return
    const press = (e: KeyboardEvent) => {
      if (e.key !== 'Escape') return
      close()
      burger.current?.focus()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [covers, close])
  const path = useRouterState({ select: (s) => s.location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the page changes
  useEffect(close, [path, close])
  useGoing()
  useEffect(watchCutText, [])
  const [palette, setPalette] = useState(false)
  const find = () => {
    setPalette(true)
    void loaded(() => import('./Palette')).then((m) => m.openPalette())
  }
  useHotkeys([['mod+K', find]], [])
  return (
    <LiveProvider workspace={me.workspace.id} user={me.user.id}>
      <a href="#main" className="dl-skip">
        {t('nav.skip')}
      </a>
      {palette && (
        <Suspense>
          <Palette />
        </Suspense>
      )}
      <AppShell
        header={{ height: 56 }}
        navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !opened } }}
        padding={{ base: 'sm', sm: 'lg' }}
      >
        <AppShell.Header px={{ base: 'xs', sm: 'md' }}>
          <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
            <Group gap="xs" wrap="nowrap" miw={0}>
              <Burger
                ref={burger}
                opened={opened}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={t('nav.menu')}
                aria-expanded={opened}
              />
              <img src={icon} alt="" width={28} height={28} />
              <Text fw={700} size="lg" visibleFrom="sm">
                Dateline
              </Text>
              <WorkspaceMenu />
            </Group>
            <Group gap="xs" wrap="nowrap">
              <UploadSign />
              <LiveSign />
              <Tooltip label={`${t('palette.title')} (Ctrl K)`}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size="lg"
                  aria-label={t('palette.title')}
                  aria-keyshortcuts="Control+K Meta+K"
                  onClick={find}
                >
                  <IconSearch size={20} aria-hidden />
                </ActionIcon>
              </Tooltip>
              <NewPost />
              <UserMenu />
            </Group>
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="xs" component="nav" aria-label={t('nav.main')} className="dl-nav">
          <Box flex={1} mih={0} style={{ overflowY: 'auto' }}>
            <Navigation />
          </Box>
          <Box pt="xs" className="dl-nav-outside">
            <Outside href={`${base}/docs/${i18n.language === 'vi' ? 'vi/bat-dau.html' : ''}`} label={t('nav.docs')} />
            {temporalUI && <Outside href={temporalUI} label={t('nav.temporal')} />}
            {sandbox && <Outside href={sandbox} label={t('nav.sandbox')} />}
          </Box>
        </AppShell.Navbar>
        <AppShell.Main id="main" tabIndex={-1} className="dl-page" inert={covers}>
          <Outlet />
        </AppShell.Main>
      </AppShell>
    </LiveProvider>
  )
}

/** Global keyboard shortcuts to the pages. */
function useGoing() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const may = useAtLeast('author')
  const to = (
    key: string,
    label: string,
    path:
      | '/calendar'
      | '/series'
      | '/approvals'
      | '/dead-letters'
      | '/accounts'
      | '/media'
      | '/readers'
      | '/news'
      | '/system',
  ) => ({ keys: `g ${key}`, label, run: () => void navigate({ to: path }) })
  useShortcuts(t('keys.everywhere'), [
    ...(may ? [{ keys: 'c', label: t('nav.newPost'), run: () => void navigate({ to: '/compose' }) }] : []),
    to('c', t('nav.calendar'), '/calendar'),
    to('s', t('nav.series'), '/series'),
    to('p', t('nav.approvals'), '/approvals'),
    to('d', t('nav.deadLetters'), '/dead-letters'),
    to('a', t('nav.accounts'), '/accounts'),
    to('m', t('nav.media'), '/media'),
    to('r', t('nav.readers'), '/readers'),
    to('n', t('nav.news'), '/news'),
    to('y', t('nav.system'), '/system'),
    { keys: 'Ctrl+K', label: t('palette.title'), run: () => undefined },
    { keys: '?', label: t('keys.title'), run: () => undefined },
  ])
}

function Outside({ href, label }: { href: string; label: string }) {
  return (
    <NavLink
      href={href}
      target="_blank"
      rel="noreferrer"
      label={label}
      leftSection={<IconExternalLink size={16} aria-hidden />}
    />
  )
}

interface Entry {
  to:
    | '/calendar'
    | '/approvals'
    | '/series'
    | '/rules'
    | '/dead-letters'
    | '/accounts'
    | '/media'
    | '/readers'
    | '/news'
    | '/settings'
    | '/system'
  label: string
  icon: ComponentType<IconProps>
  count?: { n: number; label: string; color: string; isMore?: boolean }
}

function Navigation() {
  const { t } = useTranslation()
  const path = useRouterState({ select: (s) => s.location.pathname })
  const dead = useQuery(deadCountsQuery).data?.total ?? 0
  const pending = useQuery(approvalsQuery).data?.length ?? 0
  const groups: Record<'publishing' | 'newsroom' | 'installation', Entry[]> = {
    publishing: [
      { to: '/calendar', label: t('nav.calendar'), icon: IconCalendarMonth },
      {
        to: '/approvals',
        label: t('nav.approvals'),
        icon: IconUserCheck,
        count: {
          n: pending,
          label: t('nav.approvalCount', { count: pending }),
          color: 'grape',
          isMore: pending === maxApprovals,
        },
      },
      { to: '/series', label: t('nav.series'), icon: IconRepeat },
      { to: '/rules', label: t('nav.rules'), icon: IconRobot },
      {
        to: '/dead-letters',
        label: t('nav.deadLetters'),
        icon: IconAlertOctagon,
        count: { n: dead, label: t('nav.deadCount', { count: dead }), color: 'red' },
      },
      { to: '/accounts', label: t('nav.accounts'), icon: IconUsersGroup },
      { to: '/media', label: t('nav.media'), icon: IconPhoto },
    ],
    newsroom: [
      { to: '/readers', label: t('nav.readers'), icon: IconChartBar },
      { to: '/news', label: t('nav.news'), icon: IconNews },
    ],
    installation: [
      { to: '/settings', label: t('nav.settings'), icon: IconSettings },
      { to: '/system', label: t('nav.system'), icon: IconServer },
    ],
  }
  return (Object.keys(groups) as (keyof typeof groups)[]).map((group) => (
    <section key={group} aria-labelledby={`nav-${group}`} className="dl-nav-group">
      <div id={`nav-${group}`} className="dl-nav-heading">
        {t(`nav.groups.${group}`)}
      </div>
      {groups[group].map(({ to, label, icon: Icon, count }) => {
        const here = path === to || path.startsWith(`${to}/`)
        return (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={label}
            active={here}
            aria-current={here ? 'page' : undefined}
            leftSection={<Icon size={18} stroke={1.7} aria-hidden />}
            rightSection={
              count && count.n > 0 ? (
                <Badge color={count.color} variant="light" size="sm" title={count.label} data-count={to}>
                  {count.n}
                  {count.isMore && '+'}
                </Badge>
              ) : undefined
            }
          />
        )
      })}
    </section>
  ))
}

/** Files that are being uploaded, also from a page that was left. */
function UploadSign() {
  const { t } = useTranslation()
  const all = useUploads()
  if (all.length === 0) return null
  const percent = Math.round((all.reduce((sum, s) => sum + s.share, 0) / all.length) * 100)
  return (
    <Group gap={6} wrap="nowrap" role="status" data-uploads={all.length}>
      <Loader size={16} aria-hidden />
      <Text size="sm" c="dimmed" visibleFrom="sm" className="dl-numbers">
        {t('uploads.sign', { count: all.length, percent })}
      </Text>
      <Text size="sm" c="dimmed" hiddenFrom="sm" className="dl-numbers" aria-hidden>
        {percent}%
      </Text>
    </Group>
  )
}

/** Shows whether the data is up to date. */
function LiveSign() {
  const { t } = useTranslation()
  const state = useConnection()
  return (
    <Tooltip label={t(`live.${state}Text`)}>
      <Group gap={6} wrap="nowrap" role="status" data-live={state}>
        <span className="dl-live" data-state={state} aria-hidden />
        <Text size="sm" c="dimmed" visibleFrom="sm">
          {t(`live.${state}`)}
        </Text>
        {state === 'broken' && (
          <Text size="sm" c="dimmed" hiddenFrom="sm">
            {t('live.broken')}
          </Text>
        )}
        {state === 'held' && (
          <Anchor
            href={`${base}/docs/how-to/run-behind-a-proxy.html`}
            target="_blank"
            rel="noreferrer"
            size="sm"
            hrefLang="en"
          >
            {t('live.heldGuide')}
          </Anchor>
        )}
      </Group>
    </Tooltip>
  )
}

function NewPost() {
  const { t } = useTranslation()
  if (!useAtLeast('author')) return null
  return (
    <>
      <LinkButton to="/compose" leftSection={<IconPencilPlus size={18} aria-hidden />} visibleFrom="sm">
        {t('nav.newPost')}
      </LinkButton>
      <ActionIcon component={Link} to="/compose" size="lg" hiddenFrom="sm" aria-label={t('nav.newPost')}>
        <IconPencilPlus size={20} aria-hidden />
      </ActionIcon>
    </>
  )
}

/**
 * A menu that also opens when its button is pressed before its code is loaded. A press is enough: the button can be
 * replaced before it is released, and then there is no click. It opens after the press, which is outside of the menu
 * and would close it.
 */
function useMenu() {
  const [opened, onChange] = useState(false)
  const press = (e: PointerEvent) => {
    if (e.pointerType === 'mouse' && e.button === 0) setTimeout(() => onChange(true))
  }
  return [
    { opened, onChange },
    { onPointerDown: press, onClick: () => onChange(true) },
  ] as const
}

function WorkspaceMenu() {
  const me = useMe()
  const [menu, early] = useMenu()
  const { t } = useTranslation()
  if (me.session.workspaces.length < 2)
    return (
      <Text size="sm" c="dimmed" truncate>
        {me.workspace.name}
      </Text>
    )
  return (
    <Suspense
      fallback={
        <Button
          {...early}
          variant="subtle"
          color="gray"
          px="xs"
          leftSection={<IconBuildingCommunity size={18} aria-hidden />}
          rightSection={<IconChevronDown size={16} aria-hidden />}
          aria-label={`${t('nav.workspace')}: ${me.workspace.name}`}
        >
          <Text size="sm" truncate maw={{ base: 90, sm: 220 }}>
            {me.workspace.name}
          </Text>
        </Button>
      }
    >
      <Workspaces {...menu} />
    </Suspense>
  )
}

function UserMenu() {
  const { t } = useTranslation()
  const [menu, early] = useMenu()
  return (
    <Suspense
      fallback={
        <ActionIcon {...early} variant="subtle" color="gray" size="lg" aria-label={t('nav.user')}>
          <IconUserCircle size={26} aria-hidden />
        </ActionIcon>
      }
    >
      <User {...menu} />
    </Suspense>
  )
}

/** A tooltip, as soon as its code is loaded. */
function Tooltip({ label, children }: { label: string; children: ReactElement }) {
  return (
    <Suspense fallback={children}>
      <Hint label={label}>{children}</Hint>
    </Suspense>
  )
}
