import { Anchor, Button, Group, SegmentedControl, Select, Stack, Table, Text, Title } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { base } from '../../boot'
import { NetworkIcon, networkName } from '../../components/network'
import { Failed, WaitingRows } from '../../components/states'
import { dimensionLabel } from '../../lib/metrics'
import { formatRange, toWall } from '../../lib/time'
import { useMe } from '../../lib/session'
import { Unknown } from '../post/Metrics'
import { formatMetric } from './numbers'
import type { Range } from './search'

type Dimension = Schemas['PostReportDimension']
type Metric = Schemas['PostReportMetric']

const dimensions: Dimension[] = ['post', 'network', 'account', 'section', 'author', 'label', 'weekday', 'hour']
const metrics: Metric[] = ['engagement', 'views', 'reach', 'clicks', 'visits']

/** The last seven days, today included, in the workspace's time zone. */
function lastWeek(zone: string): Range {
  const day = (ago: number) => toWall(Date.now() - ago * 86_400_000, zone).slice(0, 10)
  return { from: day(6), to: day(0) }
}

/** How the workspace's posts did, from impression to reading; and what worked. Without a range, in the last seven days. */
export function PostReport({ range }: { range?: Range }) {
  const { t, i18n } = useTranslation()
  const { workspace } = useMe()
  const [by, setBy] = useState<Dimension>('post')
  const [metric, setMetric] = useState<Metric>('engagement')
  const period = range ?? lastWeek(workspace.time_zone)
  const query = { ...period, metric }
  const report = useQuery({
    queryKey: ['post report', query, by],
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: async () =>
      (await unwrap(
        api.GET('/api/v1/reports/posts', { params: { query: { ...query, by } } }),
      )) as Schemas['PostReport'],
  })
  return (
    <>
      <Highlights range={period} metric={metric} />
      <Stack
        gap="xs"
        className="dl-card"
        p="md"
        component="section"
        aria-label={t('postReport.title')}
        data-post-report={by}
      >
        <Group justify="space-between" align="flex-end">
          <div>
            <Title order={2} size="h4">
              {t('postReport.title')}
            </Title>
            <Text size="sm" c="dimmed">
              {formatRange(period.from, period.to, i18n.language)} · {t('postReport.lead')}
            </Text>
          </div>
          <Group gap="xs" align="flex-end">
            <Select
              size="xs"
              label={t('postReport.groupBy')}
              allowDeselect={false}
              data={dimensions.map((value) => ({ value, label: t(`postReport.by.${value}`) }))}
              value={by}
              onChange={(value) => value && setBy(value as Dimension)}
            />
            <Button
              component="a"
              size="xs"
              variant="default"
              href={`${base}/api/v1/reports/posts?${new URLSearchParams({ ...query, by, limit: '1000', format: 'csv' })}`}
              download
              leftSection={<IconDownload size={16} aria-hidden />}
              aria-label={t('report.csvOf', { table: t('postReport.title') })}
            >
              CSV
            </Button>
          </Group>
        </Group>
        <SegmentedControl
          size="xs"
          aria-label={t('postReport.compareBy')}
          value={metric}
          onChange={(value) => setMetric(value as Metric)}
          data={metrics.map((value) => ({ value, label: t(`postReport.metrics.${value}`) }))}
          style={{ alignSelf: 'flex-start' }}
        />
        {report.error ? (
          <Failed error={report.error} retry={() => void report.refetch()} />
        ) : !report.data ? (
          <WaitingRows height={32} />
        ) : report.data.posts === 0 ? (
          <Text size="sm" c="dimmed">
            {t('postReport.none')}
          </Text>
        ) : by === 'post' ? (
          <Posts rows={report.data.rows} />
        ) : (
          <Groups groups={report.data.groups} metric={metric} />
        )}
      </Stack>
    </>
  )
}

function useNumber() {
  const { i18n } = useTranslation()
  return (value: number | undefined) =>
    value === undefined ? <Unknown /> : new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 }).format(value)
}

function Posts({ rows }: { rows: Schemas['PostReportRow'][] }) {
  const { t, i18n } = useTranslation()
  const number = useNumber()
  const reading = (value: number | undefined, kind: 'duration' | 'rate') =>
    value === undefined ? <Unknown /> : formatMetric(value, kind, i18n.language)
  const heads = [
    ...metrics.map((m) => t(`postReport.metrics.${m}`)),
    t('postReport.engagedTime'),
    t('postReport.completion'),
    t('postReport.conversions'),
  ]
  return (
    <Table.ScrollContainer minWidth={760} className="dl-stack" scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table verticalSpacing={6} horizontalSpacing={8}>
        <caption className="dl-hidden">{t('postReport.title')}</caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th fw={500} fz="xs">
              {t('postReport.by.post')}
            </Table.Th>
            {heads.map((head) => (
              <Table.Th key={head} ta="right" fw={500} fz="xs">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={`${row.post_id} ${row.account_id}`} data-post={row.post_id}>
              <Table.Td maw={280}>
                <Group gap={6} wrap="nowrap">
                  <NetworkIcon network={row.network} />
                  <Anchor
                    size="sm"
                    truncate
                    renderRoot={(props) => <Link to="/posts/$id" params={{ id: row.post_id }} {...props} />}
                  >
                    {row.content || row.account}
                  </Anchor>
                </Group>
                <Text size="xs" c={row.deleted ? 'red' : 'dimmed'} truncate>
                  {row.deleted ? t('postMetrics.states.deleted') : row.account}
                </Text>
              </Table.Td>
              {metrics.map((m) => (
                <Table.Td
                  key={m}
                  ta="right"
                  className="dl-numbers"
                  data-number={m}
                  data-label={t(`postReport.metrics.${m}`)}
                >
                  {number(row.numbers[m])}
                </Table.Td>
              ))}
              <Table.Td ta="right" className="dl-numbers" data-label={t('postReport.engagedTime')}>
                {reading(row.median_seconds, 'duration')}
              </Table.Td>
              <Table.Td ta="right" className="dl-numbers" data-label={t('postReport.completion')}>
                {reading(row.completion_rate, 'rate')}
              </Table.Td>
              <Table.Td ta="right" className="dl-numbers" data-label={t('postReport.conversions')}>
                {number(row.conversions)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function Groups({ groups, metric }: { groups: Schemas['PostReportGroup'][]; metric: Metric }) {
  const { t, i18n } = useTranslation()
  const number = useNumber()
  return (
    <Table.ScrollContainer minWidth={560} className="dl-stack" scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table verticalSpacing={6} horizontalSpacing={8}>
        <caption className="dl-hidden">{t('postReport.title')}</caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th fw={500} fz="xs">
              {groups[0] && t(`postReport.by.${groups[0].by}`)}
            </Table.Th>
            {[
              t('postReport.posts'),
              ...metrics.map((m) => t(`postReport.metrics.${m}`)),
              t('postReport.mean', { metric: t(`postReport.metrics.${metric}`) }),
            ].map((head) => (
              <Table.Th key={head} ta="right" fw={500} fz="xs">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map((g) => (
            <Table.Tr key={g.value} data-group={g.value}>
              <Table.Td>{dimensionLabel(g, i18n.language, networkName)}</Table.Td>
              <Table.Td ta="right" className="dl-numbers" data-label={t('postReport.posts')}>
                {number(g.posts)}
              </Table.Td>
              {metrics.map((m) => (
                <Table.Td key={m} ta="right" className="dl-numbers" data-label={t(`postReport.metrics.${m}`)}>
                  {number(g.numbers[m])}
                </Table.Td>
              ))}
              <Table.Td
                ta="right"
                className="dl-numbers"
                data-label={t('postReport.mean', { metric: t(`postReport.metrics.${metric}`) })}
              >
                {number(g.estimate?.mean)}
                {g.estimate && <Interval estimate={g.estimate} />}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function Interval({ estimate }: { estimate: Schemas['MetricEstimate'] }) {
  const { t, i18n } = useTranslation()
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 })
  return (
    <Text size="xs" c="dimmed">
      {t('postReport.interval', {
        low: number.format(estimate.low),
        high: number.format(estimate.high),
        count: estimate.posts,
      })}
    </Text>
  )
}

/** Groups of posts that did clearly better or worse than all posts. */
function Highlights({ range, metric }: { range: Range; metric: Metric }) {
  const { t, i18n } = useTranslation()
  const found = useQuery({
    queryKey: ['post highlights', range, metric],
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: () =>
      unwrap(api.GET('/api/v1/reports/posts/highlights', { params: { query: { ...range, metric, limit: 8 } } })),
  }).data
  if (!found) return null
  const percent = new Intl.NumberFormat(i18n.language, {
    style: 'percent',
    signDisplay: 'exceptZero',
    maximumFractionDigits: 0,
  })
  return (
    <Stack
      gap="xs"
      className="dl-card"
      p="md"
      component="section"
      aria-label={t('postReport.worked')}
      data-highlights={found.groups.length}
    >
      <Title order={2} size="h4">
        {t('postReport.worked')}
      </Title>
      {found.groups.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('postReport.nothingClear', { count: found.posts })}
        </Text>
      ) : (
        found.groups.map(
          (g) =>
            g.estimate && (
              <Group key={`${g.by} ${g.value}`} justify="space-between" wrap="nowrap" data-highlight={g.by}>
                <div>
                  <Text size="sm" fw={600}>
                    {dimensionLabel(g, i18n.language, networkName)}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {t(`postReport.by.${g.by}`)}
                  </Text>
                </div>
                <div>
                  <Text size="sm" fw={600} ta="right" c={(g.estimate.lift ?? 0) >= 1 ? 'teal' : 'red'}>
                    {percent.format((g.estimate.lift ?? 0) - 1)}
                  </Text>
                  <Interval estimate={g.estimate} />
                </div>
              </Group>
            ),
        )
      )}
    </Stack>
  )
}
