import { Alert, Button, Group, List, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { IconInfoCircle, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { LinkButton } from '../../components/links'
import { Failed, WaitingCards } from '../../components/states'
import { formatRange, formatTime, toWall } from '../../lib/time'
import { byReason, completeBuckets, type Metric, metrics, shownMetrics, tableOf, type TableName } from './numbers'
import { reportQuery } from './query'
import { RangePicker } from './RangePicker'
import { CSV, ReportTables } from './ReportTables'
import { type Filter, parseFilter, rangeOf, type ReadersSearch, textOf, toggleFilter } from './search'
import { TotalCard } from './TotalCard'
import { useValueName } from './useValueName'
import { loaded } from '../../lib/loading'

const AddFilter = lazy(() => loaded(() => import('./AddFilter')))
const ReportChart = lazy(() => loaded(() => import('./ReportChart')))

/** Reports on a site in a range of days. The range, the comparison and the filter are in the address. */
export function Overview({ site, search }: { site: Schemas['Site']; search: ReadersSearch }) {
  const { t, i18n } = useTranslation()
  const navigate = useNavigate()
  const today = toWall(Date.now(), site.time_zone).slice(0, 10)
  const range = rangeOf(search, today)
  const filters = (search.filter ?? []).flatMap((f) => parseFilter(f) ?? [])
  const pages = filters.filter((f) => f.name === 'page')
  const query = { site: site.id, ...range, compare: search.compare, filter: search.filter }
  const report = useQuery({ ...reportQuery(query), refetchInterval: range.to >= today ? 60_000 : false })
  const change = (to: Partial<ReadersSearch>) =>
    void navigate({ to: '/readers', search: { ...search, site: site.id, ...to }, resetScroll: false })
  const combinable = report.data?.combinable_filters ?? []
  const filterBy = (name: Filter['name'], value: string) =>
    change({ filter: toggleFilter(search.filter ?? [], { name, value }, combinable) })
  const clear = () => change({ filter: undefined })
  return (
    <Stack aria-busy={report.isFetching}>
      <Group justify="space-between" gap="xs">
        <Group gap="md" align="flex-end">
          <RangePicker search={search} range={range} today={today} change={change} />
          <Concurrents site={site.id} />
        </Group>
        <Group gap="xs">
          {filters.map((filter) => (
            <FilterChip key={textOf(filter)} filter={filter} clear={() => filterBy(filter.name, filter.value)} />
          ))}
          <Suspense fallback={<Skeleton w={110} h={30} />}>
            <AddFilter query={query} filters={filters} combinable={combinable} apply={(filter) => change({ filter })} />
          </Suspense>
          {pages.length === 1 && (
            <LinkButton
              to="/readers"
              search={{ site: site.id, tab: 'live', page: pages[0]?.value }}
              size="xs"
              variant="default"
            >
              {t('report.openPage')}
            </LinkButton>
          )}
        </Group>
      </Group>
      {report.error ? (
        <Failed error={report.error} retry={() => void report.refetch()} />
      ) : report.data ? (
        <>
          <Numbers
            report={report.data}
            isFiltered={filters.length > 0}
            csv={(by, name) => <CSV query={query} by={by} name={name} />}
          />
          {report.data.period.imported_to && (
            <Text size="sm" c="dimmed">
              {t('report.imported', {
                day: formatRange(report.data.period.imported_to, report.data.period.imported_to, i18n.language),
              })}
            </Text>
          )}
          {report.data.unavailable.length > 0 && <Unavailable gaps={report.data.unavailable} clear={clear} />}
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
            <ReportTables query={query} tables={report.data.tables} filterBy={filterBy} />
          </SimpleGrid>
        </>
      ) : (
        <WaitingCards cards={6} height={110} cols={{ base: 2, sm: 3, lg: 6 }} />
      )}
    </Stack>
  )
}

/** How many views of the site are being read now. */
function Concurrents({ site }: { site: string }) {
  const { t, i18n } = useTranslation()
  const concurrents = useQuery({
    queryKey: ['concurrents', site],
    refetchInterval: 15_000,
    queryFn: () => unwrap(api.GET('/api/v1/sites/{id}/concurrents', { params: { path: { id: site } } })),
  })
  return (
    concurrents.data && (
      <Text size="sm" lh="36px" data-concurrents={concurrents.data.concurrents}>
        <b className="dl-numbers">{new Intl.NumberFormat(i18n.language).format(concurrents.data.concurrents)}</b>{' '}
        {t('report.concurrents')}
      </Text>
    )
  )
}

/** A filter; a click removes it. */
function FilterChip({ filter, clear }: { filter: Filter; clear: () => void }) {
  const { t } = useTranslation()
  const valueName = useValueName()
  const text = t('report.filter', {
    name: t(`report.filters.${filter.name}`),
    value: valueName(tableOf(filter.name), filter.value),
  })
  return (
    <Button
      size="xs"
      variant="light"
      rightSection={<IconX size={14} aria-hidden />}
      onClick={clear}
      aria-label={t('report.removeFilter', { filter: text })}
      maw={320}
      data-filter={`${filter.name}:${filter.value}`}
    >
      {text}
    </Button>
  )
}

function Numbers({
  report,
  isFiltered,
  csv,
}: {
  report: Schemas['SiteReport']
  isFiltered: boolean
  csv: (by: TableName, name: string) => ReactNode
}) {
  const { t, i18n } = useTranslation()
  const [chosen, choose] = useState<Metric['key']>('views')
  const [asTable, setAsTable] = useState(false)
  const { period, compared, grain } = report
  const shown = shownMetrics(period.totals, isFiltered)
  const metric = shown.find((m) => m.key === chosen) ?? shown[0] ?? (metrics[0] as Metric)
  const hints: Partial<Record<Metric['key'], string>> = {
    median_seconds: t('report.hints.median_seconds'),
    bounce_rate: t('report.hints.bounce_rate'),
    engaged_bounce_rate: t('report.hints.engaged_bounce_rate'),
  }
  const label = (m: Metric) => t(`report.metrics.${m.key}`)
  const line = useMemo(
    () => period.series.map((b) => ({ start: b.start, value: b.totals[metric.key] })),
    [period, metric],
  )
  const comparedLine = useMemo(
    () => compared?.series.map((b) => ({ start: b.start, value: b.totals[metric.key] })),
    [compared, metric],
  )
  const days = formatRange(period.from, period.to, i18n.language)
  const complete = completeBuckets(
    period.series.map((b) => b.start),
    grain,
    report.time_zone,
  )
  const isKnown = line.some((b) => b.value !== undefined)
  const title = t('report.chart', { metric: label(metric), range: days })
  return (
    <>
      <SimpleGrid
        cols={shown.length > 6 ? { base: 2, sm: 4 } : { base: 2, sm: 3, lg: 6 }}
        spacing="sm"
        role="group"
        aria-label={t('report.totals')}
      >
        {shown.map((m) => (
          <TotalCard
            key={m.key}
            metric={m}
            label={label(m)}
            hint={hints[m.key]}
            value={period.totals[m.key]}
            compared={compared?.totals[m.key]}
            series={period.series.map((b) => b.totals[m.key])}
            complete={complete}
            isSelected={m.key === metric.key}
            select={() => choose(m.key)}
          />
        ))}
      </SimpleGrid>
      <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={title} data-chart={metric.key}>
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h5">
            {title}
          </Title>
          <Group gap="sm">
            <Button size="compact-sm" variant="subtle" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
              {t('report.asTable')}
            </Button>
            {csv(grain, t(`report.tables.${grain}`))}
          </Group>
        </Group>
        {isKnown ? (
          <Suspense fallback={<Skeleton height={260} />}>
            <ReportChart
              label={title}
              metric={metric}
              what={label(metric)}
              grain={grain}
              zone={report.time_zone}
              line={line}
              complete={complete}
              compared={comparedLine}
              asTable={asTable}
            />
          </Suspense>
        ) : (
          <Text size="sm" c="dimmed">
            {t('report.noSeries')}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          {compared &&
            `${t('report.comparedWith', { range: formatRange(compared.from, compared.to, i18n.language) })} `}
          {Date.parse(report.updated_at) > 0 &&
            t('report.updated', {
              time: formatTime(report.updated_at, i18n.language, report.time_zone, 'short'),
              zone: report.time_zone,
            })}
        </Text>
      </Stack>
    </>
  )
}

/** Which tables the filter makes unknown, and why. */
function Unavailable({ gaps, clear }: { gaps: Schemas['ReportGap'][]; clear: () => void }) {
  const { t, i18n } = useTranslation()
  const list = new Intl.ListFormat(i18n.language)
  return (
    <Alert color="gray" icon={<IconInfoCircle aria-hidden />} title={t('report.unavailable')} data-unavailable>
      <Stack gap="xs" align="flex-start">
        <List size="sm" withPadding={false}>
          {byReason(gaps).map(([reason, tables]) => (
            <List.Item key={reason}>
              {list.format(tables.map((by) => t(`report.tables.${by}`)))}: {t(`report.reasons.${reason}`)}
            </List.Item>
          ))}
        </List>
        <Button size="xs" variant="default" onClick={clear}>
          {t('report.clear')}
        </Button>
      </Stack>
    </Alert>
  )
}
