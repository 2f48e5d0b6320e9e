import { Group, SimpleGrid, Stack, Table, Text, Title, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Failed, WaitingRows } from '../../components/states'
import { toWall } from '../../lib/time'
import { changeOf, filterOf, formatMetric, type Metric, type TableName } from './numbers'
import { reportQuery } from './query'
import { RangePicker } from './RangePicker'
import { PostReport } from './PostReport'
import { CSV } from './ReportTables'
import { rangeOf, type ReadersSearch } from './search'
import { ChangeBadge } from './TotalCard'
import { useValueName } from './useValueName'

interface Column {
  key:
    | 'clicks'
    | 'visits'
    | 'views'
    | 'visitors'
    | 'social_views'
    | 'articles'
    | 'median_seconds'
    | 'completion_rate'
    | 'recirculation_rate'
  kind: Metric['kind']
}

const postColumns: Column[] = [
  { key: 'clicks', kind: 'count' },
  { key: 'visits', kind: 'count' },
  { key: 'median_seconds', kind: 'duration' },
  { key: 'completion_rate', kind: 'rate' },
]

const articleColumns: Column[] = [
  { key: 'views', kind: 'count' },
  { key: 'visitors', kind: 'count' },
  { key: 'median_seconds', kind: 'duration' },
  { key: 'completion_rate', kind: 'rate' },
  { key: 'recirculation_rate', kind: 'rate' },
  { key: 'social_views', kind: 'count' },
  { key: 'articles', kind: 'count' },
]

/** Reports on a site's articles, or on the posts that link to it, grouped by each of the tables. */
export function Newsroom({
  site,
  search,
  tables,
}: {
  site: Schemas['Site']
  search: ReadersSearch
  tables: TableName[]
}) {
  const navigate = useNavigate()
  const today = toWall(Date.now(), site.time_zone).slice(0, 10)
  const range = rangeOf(search, today)
  const change = (to: Partial<ReadersSearch>) =>
    void navigate({ to: '/readers', search: { ...search, site: site.id, ...to }, resetScroll: false })
  return (
    <Stack>
      <RangePicker search={search} range={range} today={today} change={change} />
      {tables.includes('authors') && <Recent site={site.id} />}
      {tables.includes('posts') && <PostReport range={range} />}
      {tables.map((by) => (
        <Leaderboard
          key={by}
          by={by}
          query={{ site: site.id, ...range, compare: search.compare, by }}
          show={(filter) => change({ tab: undefined, filter: [filter] })}
        />
      ))}
    </Stack>
  )
}

interface LeaderboardProps {
  by: TableName
  query: Parameters<typeof reportQuery>[0]
  /** Shows the report of a value. */
  show: (filter: string) => void
}

function Leaderboard({ by, query, show }: LeaderboardProps) {
  const { t, i18n } = useTranslation()
  const report = useQuery(reportQuery(query))
  const valueName = useValueName()
  const name = t(`report.tables.${by}`)
  const table = report.data?.tables[0]
  const filter = filterOf[by]
  const isOfPosts = table?.metric === 'clicks'
  const shown = (isOfPosts ? postColumns : articleColumns).filter((c) =>
    table?.rows.some((row) => row.totals[c.key] !== undefined),
  )
  const isCompared = table?.rows.some((row) => row.previous !== undefined)
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={name} data-table={by}>
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h5">
          {name}
        </Title>
        <CSV query={query} by={by} name={name} />
      </Group>
      {report.error ? (
        <Failed error={report.error} retry={() => void report.refetch()} />
      ) : !table ? (
        <WaitingRows height={24} />
      ) : table.rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t(by.startsWith('post') ? 'report.noPosts' : 'report.noArticles')}
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={shown.length * 90 + 160} type="native">
          <Table withRowBorders={false} verticalSpacing={4} horizontalSpacing={6}>
            <caption className="dl-hidden">{name}</caption>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>
                  <VisuallyHidden>{name}</VisuallyHidden>
                </Table.Th>
                {shown.map((c) => (
                  <Table.Th key={c.key} ta="right" fw={500} fz="xs">
                    {t(`report.metrics.${c.key}`)}
                  </Table.Th>
                ))}
                {isCompared && (
                  <Table.Th ta="right" fw={500} fz="xs">
                    {t('report.change')}
                  </Table.Th>
                )}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {table.rows.map((row) => {
                const label = row.label ?? valueName(by, row.value)
                const changed = changeOf(isOfPosts ? row.totals.clicks : row.totals.views, row.previous)
                return (
                  <Table.Tr key={row.value} data-row={row.value}>
                    <Table.Td maw={260}>
                      {filter ? (
                        <UnstyledButton
                          w="100%"
                          py={2}
                          onClick={() => show(`${filter}:${row.value}`)}
                          title={label}
                          aria-label={t('report.filterBy', { value: label })}
                        >
                          <Text size="sm" truncate>
                            {label}
                          </Text>
                        </UnstyledButton>
                      ) : by === 'posts' ? (
                        <Link to="/posts/$id" params={{ id: row.value }} title={label}>
                          <Text size="sm" truncate>
                            {label}
                          </Text>
                        </Link>
                      ) : (
                        <Text size="sm" truncate title={label}>
                          {label}
                        </Text>
                      )}
                    </Table.Td>
                    {shown.map((c) => (
                      <Table.Td key={c.key} ta="right" className="dl-numbers" data-number={c.key}>
                        {formatMetric(row.totals[c.key], c.kind, i18n.language)}
                      </Table.Td>
                    ))}
                    {isCompared && (
                      <Table.Td ta="right">
                        {changed ? (
                          <ChangeBadge change={changed} />
                        ) : row.previous === 0 ? (
                          <Text size="xs">{t('report.new')}</Text>
                        ) : (
                          '–'
                        )}
                      </Table.Td>
                    )}
                  </Table.Tr>
                )
              })}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {table?.without_article !== undefined && table.without_article > 0 && (
        <Text size="xs" c="dimmed" data-without-article>
          {t('report.withoutArticle', { views: formatMetric(table.without_article, 'count', i18n.language) })}
        </Text>
      )}
    </Stack>
  )
}

/** The articles published in the last 24 hours next to those read in them. */
function Recent({ site }: { site: string }) {
  const { t, i18n } = useTranslation()
  const recent = useQuery({
    queryKey: ['recent-articles', site],
    refetchInterval: 60_000,
    queryFn: () => unwrap(api.GET('/api/v1/sites/{id}/recent-articles', { params: { path: { id: site } } })),
  })
  if (recent.error) return <Failed error={recent.error} retry={() => void recent.refetch()} />
  if (!recent.data) return <WaitingRows height={24} />
  const count = (n: number) => formatMetric(n, 'count', i18n.language)
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <RecentList
        name={t('report.published24')}
        text={t('report.published24Text', {
          articles: count(recent.data.published),
          views: count(recent.data.published_views),
        })}
        articles={recent.data.new}
        kind="new"
      />
      <RecentList
        name={t('report.read24')}
        text={t('report.read24Text', { views: count(recent.data.views) })}
        articles={recent.data.read}
        kind="read"
      />
    </SimpleGrid>
  )
}

function RecentList({
  name,
  text,
  articles,
  kind,
}: {
  name: string
  text: string
  articles: Schemas['RecentArticle'][]
  kind: string
}) {
  const { t, i18n } = useTranslation()
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={name} data-recent={kind}>
      <Title order={2} size="h5">
        {name}
      </Title>
      <Text size="sm" c="dimmed">
        {text}
      </Text>
      {articles.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('report.nothing')}
        </Text>
      ) : (
        articles.map((a) => (
          <Group key={a.page} justify="space-between" wrap="nowrap" data-page={a.page}>
            <Stack gap={0} miw={0}>
              <Text size="sm" truncate title={a.article.title}>
                {a.article.title}
              </Text>
              {a.authors.length > 0 && (
                <Text size="xs" c="dimmed" truncate>
                  {new Intl.ListFormat(i18n.language).format(a.authors)}
                </Text>
              )}
            </Stack>
            <Text size="sm" fw={600} className="dl-numbers">
              {formatMetric(a.views, 'count', i18n.language)}
            </Text>
          </Group>
        ))
      )}
    </Stack>
  )
}
