import {
  ActionIcon,
  Button,
  Group,
  MultiSelect,
  SegmentedControl,
  Select,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useDebouncedCallback, useDisclosure, useLocalStorage, useMediaQuery } from '@mantine/hooks'
import {
  IconChevronLeft,
  IconChevronRight,
  IconFileImport,
  IconFilter,
  IconFilterOff,
  IconSearch,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import dayjs from 'dayjs'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { LabelChips, ManageLabels } from '../../components/Labels'
import { networkColor, NetworkIcon, networkName } from '../../components/network'
import { LinkButton } from '../../components/links'
import { Onboarding } from '../../components/Onboarding'
import { Page } from '../../components/Page'
import { useShortcuts } from '../../components/Shortcuts'
import { looks } from '../../components/status'
import { DayField } from '../../components/DayField'
import { ZoneSelect } from '../../components/ZoneSelect'
import { accountsQuery, labelsQuery } from '../../lib/queries'
import { useAtLeast, useMe } from '../../lib/session'
import { capitalized, format, formatRange, mondayOf, toInstant, toWall, zoneNames } from '../../lib/time'
import { type CalendarSearch, type CalendarView, views } from './search'
import type { Colors } from './events'
import { Agenda } from './Agenda'
import { statuses, statusesOf } from './filter'
import { PostList } from './PostList'
import { Queue } from './Queue'
import { loaded } from '../../lib/loading'

const Grid = lazy(() => loaded(() => import('./Grid')))
const DateRange = lazy(() => loaded(() => import('./DateRange')))

const route = getRouteApi('/calendar')

/** The calendar of posts: as a month, a week, a day or a list. */
export function CalendarPage() {
  const { t, i18n } = useTranslation()
  const me = useMe()
  const search = route.useSearch()
  const may = useAtLeast('author')
  const navigate = useNavigate()
  const [zone, setZone] = useLocalStorage({
    key: 'dateline-zone',
    defaultValue: me.workspace.time_zone,
    getInitialValueInEffect: false,
  })
  const [usual, setUsual] = useLocalStorage<CalendarView | undefined>({
    key: 'dateline-view',
    defaultValue: undefined,
    getInitialValueInEffect: false,
  })
  const [second, setSecond] = useLocalStorage<string | null>({
    key: 'dateline-zone-second',
    defaultValue: null,
    getInitialValueInEffect: false,
  })
  const [colors, setColors] = useLocalStorage<Colors>({
    key: 'dateline-colors',
    defaultValue: 'status',
    getInitialValueInEffect: false,
  })
  const accounts = useQuery(accountsQuery).data ?? []
  const labels = useQuery(labelsQuery).data ?? []
  const networks = [...new Set(accounts.map((a) => a.network))].sort()
  const narrow = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false })
  const [filters, { toggle }] = useDisclosure(false)
  // Seven columns need space, so a phone starts with another view, but can switch to them.
  const view = search.view ?? usual ?? (narrow ? 'agenda' : 'month')
  const isList = view === 'list' || view === 'agenda' || view === 'queue'
  const date = search.date ?? toWall(Date.now(), zone).slice(0, 10)
  const go = (change: CalendarSearch) =>
    void navigate({ to: '/calendar', search: (was) => ({ ...was, ...change }), replace: true })
  const step = (n: number) =>
    go({
      date: dayjs(date)
        .add(n, isList ? 'week' : view)
        .format('YYYY-MM-DD'),
    })
  const show = (v: CalendarView) => {
    setUsual(v)
    go({ view: v })
  }
  const today = () => go({ date: undefined })
  useShortcuts(t('calendar.title'), [
    { keys: 't', label: t('calendar.today'), run: today },
    { keys: 'j', label: t('calendar.next'), run: () => step(1) },
    { keys: 'k', label: t('calendar.previous'), run: () => step(-1) },
    { keys: 'm', label: t('calendar.views.month'), run: () => show('month') },
    { keys: 'w', label: t('calendar.views.week'), run: () => show('week') },
    { keys: 'd', label: t('calendar.views.day'), run: () => show('day') },
    { keys: 'a', label: t('calendar.views.agenda'), run: () => show('agenda') },
    { keys: 'q', label: t('calendar.views.queue'), run: () => show('queue') },
    { keys: 'l', label: t('calendar.views.list'), run: () => show('list') },
  ])
  const chosen = [
    search.status,
    search.account,
    search.network,
    search.label,
    search.q,
    view === 'list' && (search.from || search.to),
  ].filter(Boolean).length
  const at = toInstant(`${view === 'week' ? mondayOf(date) : date}T12:00`, zone)
  const title = capitalized(
    format(
      at,
      i18n.language,
      zone,
      view === 'month'
        ? { month: 'long', year: 'numeric' }
        : { day: 'numeric', month: 'long', year: 'numeric', ...(view === 'day' ? { weekday: 'long' } : {}) },
    ),
  )
  return (
    <Page
      title={t('calendar.title')}
      actions={
        may ? (
          <LinkButton variant="default" to="/import" leftSection={<IconFileImport size={18} aria-hidden />}>
            {t('import.title')}
          </LinkButton>
        ) : undefined
      }
    >
      <Onboarding />
      <Stack gap="sm">
        <Group justify="space-between" gap="sm">
          {(!isList || view === 'agenda') && (
            <Group gap="xs">
              <ActionIcon variant="default" size="lg" aria-label={t('calendar.previous')} onClick={() => step(-1)}>
                <IconChevronLeft size={18} aria-hidden />
              </ActionIcon>
              <Button variant="default" onClick={today}>
                {t('calendar.today')}
              </Button>
              <ActionIcon variant="default" size="lg" aria-label={t('calendar.next')} onClick={() => step(1)}>
                <IconChevronRight size={18} aria-hidden />
              </ActionIcon>
              <Title order={2} size="h4" aria-live="polite">
                {view === 'week'
                  ? t('calendar.weekDays', {
                      days: formatRange(
                        mondayOf(date),
                        dayjs(mondayOf(date)).add(6, 'day').format('YYYY-MM-DD'),
                        i18n.language,
                      ),
                    })
                  : view === 'agenda'
                    ? search.date
                      ? t('calendar.from', { day: title })
                      : t('calendar.upcoming')
                    : title}
              </Title>
              {view === 'agenda' && (
                <DayField
                  label={t('calendar.date')}
                  hideLabel
                  value={search.date ?? ''}
                  placeholder={t('calendar.pickDay')}
                  w={150}
                  onChange={(day) => go({ date: day || undefined })}
                />
              )}
            </Group>
          )}
          <SegmentedControl
            ml="auto"
            aria-label={t('calendar.view')}
            value={view}
            onChange={(v) => show(v as CalendarView)}
            data={views.map((value) => ({ value, label: t(`calendar.views.${value}`) }))}
          />
        </Group>
        {narrow && view !== 'queue' && (
          <Button
            variant="default"
            leftSection={<IconFilter size={16} aria-hidden />}
            onClick={toggle}
            aria-expanded={filters}
            style={{ alignSelf: 'flex-start' }}
          >
            {t('calendar.filters')}
            {chosen > 0 && ` (${chosen})`}
          </Button>
        )}
        {view === 'queue' ? (
          <ZoneSelect value={zone} onChange={setZone} w={{ base: '100%', xs: 200 }} />
        ) : (
          (!narrow || filters) && (
            <Group gap="sm" align="flex-end">
              <SearchField value={search.q ?? ''} onChange={(q) => go({ q: q || undefined })} />
              <MultiSelect
                label={t('calendar.status')}
                clearable
                searchable
                placeholder={search.status ? undefined : t('calendar.all')}
                w={{ base: '100%', xs: 150 }}
                maxDropdownHeight={400}
                data={statuses.map((value) => ({ value, label: t(`status.${value}`) }))}
                value={statusesOf(search)}
                onChange={(chosen) => go({ status: chosen.join(',') || undefined })}
              />
              <Select
                label={t('calendar.account')}
                clearable
                placeholder={t('calendar.all')}
                w={{ base: '100%', xs: 150 }}
                data={accounts.map((a) => ({ value: a.id, label: `${networkName(a.network)} ${a.handle}` }))}
                value={search.account ?? null}
                onChange={(account) => go({ account: account ?? undefined })}
              />
              {networks.length > 1 && (
                <Select
                  label={t('calendar.network')}
                  clearable
                  placeholder={t('calendar.all')}
                  w={{ base: '100%', xs: 120 }}
                  data={networks.map((value) => ({ value, label: networkName(value) }))}
                  value={search.network ?? null}
                  onChange={(network) => go({ network: network ?? undefined })}
                />
              )}
              {labels.length > 0 && (
                <Select
                  label={t('labels.one')}
                  clearable
                  searchable
                  placeholder={t('calendar.all')}
                  w={{ base: '100%', xs: 130 }}
                  data={(['campaign', 'label'] as const).map((kind) => ({
                    group: t(`labels.many.${kind}`),
                    items: labels.filter((l) => l.kind === kind).map((l) => ({ value: l.id, label: l.name })),
                  }))}
                  value={search.label ?? null}
                  onChange={(label) => go({ label: label ?? undefined })}
                />
              )}
              {view === 'list' && (
                <Suspense fallback={<Skeleton w={170} h={60} />}>
                  <DateRange
                    key={`${search.from} ${search.to}`}
                    from={search.from}
                    to={search.to}
                    onChange={(from, to) => go({ from, to })}
                  />
                </Suspense>
              )}
              <ZoneSelect value={zone} onChange={setZone} w={{ base: '100%', xs: 170 }} />
              {!isList && <SecondZone value={second} onChange={setSecond} />}
              <ManageLabels />
              {chosen > 0 && (
                <ActionIcon
                  variant="subtle"
                  size="lg"
                  aria-label={t('calendar.clear')}
                  title={t('calendar.clear')}
                  onClick={() =>
                    go({
                      status: undefined,
                      account: undefined,
                      network: undefined,
                      label: undefined,
                      q: undefined,
                      from: undefined,
                      to: undefined,
                    })
                  }
                >
                  <IconFilterOff size={18} aria-hidden />
                </ActionIcon>
              )}
            </Group>
          )
        )}
        {view === 'list' ? (
          <PostList search={search} zone={zone} change={go} />
        ) : view === 'agenda' ? (
          <Agenda search={search} zone={zone} change={go} />
        ) : view === 'queue' ? (
          <Queue chosen={search.group} choose={(group) => go({ group })} zone={zone} />
        ) : (
          <Suspense fallback={<Skeleton height={480} radius="md" role="status" aria-label={t('state.loading')} />}>
            <Grid search={search} view={view} date={date} zone={zone} second={second ?? undefined} colors={colors} />
            <Legend colors={colors} choose={setColors} networks={networks} labels={labels} />
          </Suspense>
        )}
      </Stack>
    </Page>
  )
}

/** Searches posts while somebody types. */
function SearchField({ value, onChange }: { value: string; onChange: (q: string) => void }) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState(value)
  const send = useDebouncedCallback(onChange, 250)
  const [seen, setSeen] = useState(value)
  if (seen !== value) {
    // The address changed otherwise, such as by clearing all filters.
    setSeen(value)
    if (value !== typed.trim()) setTyped(value)
  }
  return (
    <TextInput
      label={t('calendar.search')}
      type="search"
      leftSection={<IconSearch size={16} aria-hidden />}
      maxLength={200}
      w={{ base: '100%', xs: 140 }}
      value={typed}
      onChange={(e) => {
        setTyped(e.currentTarget.value)
        send(e.currentTarget.value.trim())
      }}
    />
  )
}

/** Selects a second time zone. */
function SecondZone({ value, onChange }: { value: string | null; onChange: (zone: string | null) => void }) {
  const { t } = useTranslation()
  return (
    <Select
      label={t('calendar.second')}
      placeholder={t('calendar.noSecond')}
      searchable
      clearable
      maxDropdownHeight={280}
      limit={80}
      nothingFoundMessage={t('state.nothing')}
      w={{ base: '100%', xs: 140 }}
      data={zoneNames()}
      value={value}
      onChange={onChange}
    />
  )
}

/** The legend of the colors, and the choice of what they mean. */
function Legend({
  colors,
  choose,
  networks,
  labels,
}: {
  colors: Colors
  choose: (c: Colors) => void
  networks: string[]
  labels: Schemas['Label'][]
}) {
  const { t } = useTranslation()
  return (
    <Group gap="md" justify="space-between">
      <Group gap="md" component="ul" p={0} m={0} style={{ listStyle: 'none' }} aria-label={t('calendar.legend')}>
        {colors === 'status'
          ? statuses.map((s) => {
              const { icon: Icon, color } = looks[s]
              return (
                <Group key={s} gap={4} component="li" data-legend={s}>
                  <Icon size={16} color={`var(--mantine-color-${color}-6)`} aria-hidden />
                  <Text size="sm" c="dimmed">
                    {t(`status.${s}`)}
                  </Text>
                </Group>
              )
            })
          : colors === 'label'
            ? labels.map((l) => (
                <li key={l.id}>
                  <LabelChips ids={[l.id]} />
                </li>
              ))
            : networks.map((n) => (
                <Group key={n} gap={4} component="li" c={`${networkColor(n)}.6`}>
                  <NetworkIcon network={n} size={16} />
                  <Text size="sm" c="dimmed">
                    {networkName(n)}
                  </Text>
                </Group>
              ))}
      </Group>
      <SegmentedControl
        size="xs"
        aria-label={t('calendar.colorBy')}
        value={colors}
        onChange={(v) => choose(v as Colors)}
        data={(['status', 'network', ...(labels.length > 0 ? ['label' as const] : [])] as const).map((value) => ({
          value,
          label: t(`calendar.colorsBy.${value}`),
        }))}
      />
    </Group>
  )
}
