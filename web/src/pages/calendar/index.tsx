import { ActionIcon, Button, Group, SegmentedControl, Select, Stack, Text, Title } from '@mantine/core'
import { useDisclosure, useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { IconChevronLeft, IconChevronRight, IconFilter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import dayjs from 'dayjs'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { networkName } from '../../components/network'
import { Page } from '../../components/Page'
import { Waiting } from '../../components/states'
import { looks } from '../../components/status'
import { ZoneSelect } from '../../components/ZoneSelect'
import { accountsQuery } from '../../lib/queries'
import { useMe } from '../../lib/session'
import { format, toInstant, toWall } from '../../lib/time'
import { type CalendarSearch, type CalendarView, views } from '../../router'
import { PostList } from './PostList'

const Grid = lazy(() => import('./Grid'))

const route = getRouteApi('/calendar')

/** When what goes out: as a month, a week, a day or a list. */
export function CalendarPage() {
  const { t, i18n } = useTranslation()
  const me = useMe()
  const search = route.useSearch()
  const navigate = useNavigate()
  const [zone, setZone] = useLocalStorage({ key: 'dateline-zone', defaultValue: me.workspace.time_zone, getInitialValueInEffect: false })
  const [usual, setUsual] = useLocalStorage<CalendarView | undefined>({ key: 'dateline-view', defaultValue: undefined, getInitialValueInEffect: false })
  const accounts = useQuery(accountsQuery).data ?? []
  const narrow = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false })
  const [filters, { toggle }] = useDisclosure(false)
  // Seven columns need room; who asks for them on a telephone gets them all the same.
  const view = search.view ?? usual ?? (narrow ? 'list' : 'month')
  const date = search.date ?? toWall(Date.now(), zone).slice(0, 10)
  const go = (change: CalendarSearch) => void navigate({ to: '/calendar', search: (was) => ({ ...was, ...change }), replace: true })
  const step = (n: number) => go({ date: dayjs(date).add(n, view === 'list' ? 'week' : view).format('YYYY-MM-DD') })
  const at = toInstant(`${date}T12:00`, zone)
  const title = format(at, i18n.language, zone, view === 'month' ? { month: 'long', year: 'numeric' } : { day: 'numeric', month: 'long', year: 'numeric', ...(view === 'day' ? { weekday: 'long' } : {}) })
  return (
    <Page title={t('calendar.title')}>
      <Stack gap="sm">
        <Group justify="space-between" gap="sm">
          <Group gap="xs">
            {view !== 'list' && (
              <>
                <ActionIcon variant="default" size="lg" aria-label={t('calendar.previous')} onClick={() => step(-1)}>
                  <IconChevronLeft size={18} aria-hidden />
                </ActionIcon>
                <Button variant="default" onClick={() => go({ date: undefined })}>
                  {t('calendar.today')}
                </Button>
                <ActionIcon variant="default" size="lg" aria-label={t('calendar.next')} onClick={() => step(1)}>
                  <IconChevronRight size={18} aria-hidden />
                </ActionIcon>
                <Title order={2} size="h4" aria-live="polite">
                  {view === 'week' ? t('calendar.weekOf', { day: title }) : title}
                </Title>
              </>
            )}
          </Group>
          <SegmentedControl
            aria-label={t('calendar.view')}
            value={view}
            onChange={(v) => {
              setUsual(v as CalendarView)
              go({ view: v as CalendarView })
            }}
            data={views.map((value) => ({ value, label: t(`calendar.views.${value}`) }))}
          />
        </Group>
        {narrow && (
          <Button variant="default" leftSection={<IconFilter size={16} aria-hidden />} onClick={toggle} aria-expanded={filters} style={{ alignSelf: 'flex-start' }}>
            {t('calendar.filters')}
          </Button>
        )}
        {(!narrow || filters) && (
        <Group gap="sm" align="flex-end">
          <Select
            label={t('calendar.status')}
            clearable
            placeholder={t('calendar.all')}
            w={{ base: '100%', xs: 180 }}
            data={(['draft', 'scheduled', 'publishing', 'posted', 'partly_posted', 'failed', 'cancelled'] as const).map((value) => ({ value, label: t(`status.${value}`) }))}
            value={search.status ?? null}
            onChange={(status) => go({ status: status ?? undefined })}
          />
          <Select
            label={t('calendar.account')}
            clearable
            placeholder={t('calendar.all')}
            w={{ base: '100%', xs: 240 }}
            data={accounts.map((a) => ({ value: a.id, label: `${networkName(a.network)} ${a.handle}` }))}
            value={search.account ?? null}
            onChange={(account) => go({ account: account ?? undefined })}
          />
          <ZoneSelect value={zone} onChange={setZone} w={{ base: '100%', xs: 220 }} />
        </Group>
        )}
        {view === 'list' ? (
          <PostList search={search} zone={zone} />
        ) : (
          <Suspense fallback={<Waiting />}>
            <Grid search={search} view={view} date={date} zone={zone} />
            <Legend />
          </Suspense>
        )}
      </Stack>
    </Page>
  )
}

function Legend() {
  const { t } = useTranslation()
  return (
    <Group gap="md" component="ul" p={0} m={0} style={{ listStyle: 'none' }} aria-label={t('calendar.colors')}>
      {(['draft', 'scheduled', 'publishing', 'posted', 'partly_posted', 'failed', 'cancelled'] as const).map((s) => {
        const { icon: Icon, color } = looks[s]
        return (
          <Group key={s} gap={4} component="li">
            <Icon size={16} color={`var(--mantine-color-${color}-6)`} aria-hidden />
            <Text size="sm" c="dimmed">
              {t(`status.${s}`)}
            </Text>
          </Group>
        )
      })}
    </Group>
  )
}
