import { Group, Progress, SegmentedControl, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../../api/client'
import { LinkButton } from '../../components/links'
import { Failed, NotLoaded, WaitingCards } from '../../components/states'
import { isPost, PageName } from './PageName'
import { useValueName } from './useValueName'
import { loaded } from '../../lib/loading'

const Chart = lazy(() => loaded(() => import('../../components/Chart')))

/** The owner of the pages: a site, or the workspace with its posts and short links. */
export interface Counted {
  id: string
  time_zone: string
  own: boolean
}

const types = ['view', 'click', 'conversion'] as const

/** All counts of one page. `views` and `clicks` come from the stream, if set, and are newer. */
export function PageNumbers({
  site,
  page,
  views,
  clicks,
}: {
  site: Counted
  page: string
  views?: number
  clicks?: number
}) {
  const { t } = useTranslation()
  const nameOf = useValueName()
  const [unit, setUnit] = useState<'hour' | 'day'>('hour')
  const [type, setType] = useState<(typeof types)[number]>(site.own ? 'click' : 'view')
  const path = { id: site.id }
  const key = ['page', site.id, page]
  // The stream announces views before unique visitors are counted.
  const stats = useQuery({
    queryKey: [...key, 'stats'],
    refetchInterval: 10_000,
    queryFn: async () =>
      (await unwrap(api.GET('/api/v1/sites/{id}/pages/stats', { params: { path, query: { page: [page] } } }))).pages[0],
  })
  const series = useQuery({
    queryKey: [...key, 'series', unit, type],
    placeholderData: keepPreviousData,
    queryFn: () =>
      unwrap(
        api.GET('/api/v1/sites/{id}/pages/series', {
          params: { path, query: { page, type, unit, buckets: unit === 'hour' ? 48 : 35 } },
        }),
      ),
  })
  const funnel = useQuery({
    queryKey: [...key, 'funnel'],
    queryFn: () => unwrap(api.GET('/api/v1/sites/{id}/pages/funnel', { params: { path, query: { page } } })),
  })
  const dimensions = useQuery({
    queryKey: [...key, 'dimensions'],
    queryFn: () => unwrap(api.GET('/api/v1/sites/{id}/pages/dimensions', { params: { path, query: { page } } })),
  })
  const filtered = useQuery({
    queryKey: [...key, 'filtered'],
    queryFn: () => unwrap(api.GET('/api/v1/sites/{id}/pages/filtered', { params: { path, query: { page } } })),
  })
  // Each view from the stream triggers a refetch of the rest.
  const { refetch: again } = series
  const { refetch: statsAgain } = stats
  const { refetch: funnelAgain } = funnel
  const { refetch: dimensionsAgain } = dimensions
  useEffect(() => {
    if (views === undefined && clicks === undefined) return
    const timer = setTimeout(() => void Promise.all([again(), statsAgain(), funnelAgain(), dimensionsAgain()]), 800)
    return () => clearTimeout(timer)
  }, [views, clicks, again, statsAgain, funnelAgain, dimensionsAgain])
  if (stats.error) return <Failed error={stats.error} retry={() => void stats.refetch()} />
  if (!stats.data) return <WaitingCards cards={6} height={76} cols={{ base: 2, sm: 3 }} />
  const s = stats.data
  return (
    <Stack component="section" aria-label={page}>
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <Title order={2} size="h4" className="dl-text" lineClamp={3}>
          <PageName page={page} own={site.own} />
        </Title>
        {site.own && isPost(page) && (
          <LinkButton to="/posts/$id" params={{ id: page }} size="xs" variant="default" style={{ flexShrink: 0 }}>
            {t('post.open')}
          </LinkButton>
        )}
      </Group>
      <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="sm">
        <Figure label={t('readers.views')} value={Math.max(views ?? 0, s.views)} mark="views" />
        <Figure label={t('readers.uniquesToday')} value={s.uniques.day} />
        <Figure label={t('readers.uniquesWeek')} value={s.uniques.week} />
        <Figure label={t('readers.uniquesAll')} value={s.uniques.all_time} mark="readers" />
        <Figure label={t('readers.clicks')} value={Math.max(clicks ?? 0, s.clicks)} mark="clicks" />
        <Figure label={t('readers.conversions')} value={s.conversions} />
      </SimpleGrid>
      <Stack gap="xs" className="dl-card" p="md">
        <Group justify="space-between">
          <Text fw={600}>{t('readers.overTime')}</Text>
          <Group gap="xs">
            <SegmentedControl
              size="xs"
              aria-label={t('readers.of')}
              value={type}
              onChange={(v) => setType(v as typeof type)}
              data={types.map((value) => ({ value, label: t(`readers.type.${value}`) }))}
            />
            <SegmentedControl
              size="xs"
              aria-label={t('readers.unit')}
              value={unit}
              onChange={(v) => setUnit(v as typeof unit)}
              data={(['hour', 'day'] as const).map((value) => ({ value, label: t(`readers.units.${value}`) }))}
            />
          </Group>
        </Group>
        {series.data && (
          <Suspense fallback={<Skeleton height={220} />}>
            <Chart
              label={t('readers.chart', { page })}
              what={t(`readers.type.${type}`)}
              buckets={series.data.buckets}
              unit={unit}
              zone={site.time_zone}
            />
          </Suspense>
        )}
      </Stack>
      <NotLoaded what={t('readers.title')} queries={[series, funnel, dimensions, filtered]} />
      {funnel.data && (
        <Shares
          title={t('readers.funnel')}
          counts={[
            [t('readers.views'), funnel.data.views],
            [t('readers.clicks'), funnel.data.clicks],
            [t('readers.conversions'), funnel.data.conversions],
          ]}
          most={funnel.data.views}
        />
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {dimensions.data && (
          <>
            <Shares
              title={t('readers.country')}
              counts={Object.entries(dimensions.data.country).map(([value, n]) => [nameOf('countries', value), n])}
            />
            <Shares
              title={t('readers.device')}
              counts={Object.entries(dimensions.data.device).map(([value, n]) => [nameOf('devices', value), n])}
            />
            <Shares title={t('readers.referrer')} counts={Object.entries(dimensions.data.referrer)} />
          </>
        )}
        {filtered.data && (
          <Shares
            title={t('readers.filtered')}
            text={t('readers.filteredText')}
            counts={Object.entries(filtered.data.reasons).map(([why, n]) => [
              t(`filter.${why as 'crawler'}`, { defaultValue: why }),
              n,
            ])}
          />
        )}
      </SimpleGrid>
    </Stack>
  )
}

function Figure({ label, value, mark }: { label: string; value: number; mark?: string }) {
  const { i18n } = useTranslation()
  return (
    <Stack gap={0} className="dl-card" p="sm">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text size="xl" fw={700} className="dl-numbers" data-figure={mark}>
        {new Intl.NumberFormat(i18n.language).format(value)}
      </Text>
    </Stack>
  )
}

/** Counts side by side, largest first. */
function Shares({
  title,
  text,
  counts,
  most,
}: {
  title: string
  text?: string
  counts: [string, number][]
  most?: number
}) {
  const { t, i18n } = useTranslation()
  const sorted = most === undefined ? counts.toSorted((a, b) => b[1] - a[1]).slice(0, 8) : counts
  const all = most ?? Math.max(1, ...sorted.map(([, n]) => n))
  return (
    <Stack gap={6} className="dl-card" p="md">
      <Text fw={600}>{title}</Text>
      {text && (
        <Text size="sm" c="dimmed">
          {text}
        </Text>
      )}
      {sorted.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('readers.nothing')}
        </Text>
      )}
      {sorted.map(([name, n]) => (
        <div key={name}>
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm" truncate>
              {name}
            </Text>
            <Text size="sm" className="dl-numbers">
              {new Intl.NumberFormat(i18n.language).format(n)}
            </Text>
          </Group>
          <Progress value={all > 0 ? (n / all) * 100 : 0} size="sm" aria-label={name} />
        </div>
      ))}
    </Stack>
  )
}
