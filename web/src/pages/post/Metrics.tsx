import { Badge, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { AccountName } from '../../components/network'
import { NotLoaded } from '../../components/states'
import { metricLabel, metricNames } from '../../lib/metrics'
import { MetricSeries } from './MetricSeries'

/** What the networks report about a post, by account and part. Absent until something is published. */
export function Metrics({ id }: { id: string }) {
  const { t, i18n } = useTranslation()
  const stored = useQuery({
    queryKey: ['post', id, 'metrics'],
    retry: false,
    refetchInterval: 30_000,
    queryFn: async () => (await unwrap(api.GET('/api/v1/posts/{id}/metrics', { params: { path: { id } } }))).parts,
  })
  const parts = stored.data
  if (!parts) return <NotLoaded what={t('postMetrics.title')} queries={[stored]} />
  if (parts.length === 0) return null
  const number = new Intl.NumberFormat(i18n.language)
  const names = metricNames(parts.map((p) => p.latest))
  const isThread = parts.some((p) => p.part > 0)
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={t('postMetrics.title')} data-metrics>
      <Title order={2} size="h4">
        {t('postMetrics.title')}
      </Title>
      <Table.ScrollContainer minWidth={0}>
        <Table verticalSpacing={6} horizontalSpacing={8}>
          <caption className="dl-hidden">{t('postMetrics.title')}</caption>
          <Table.Thead>
            <Table.Tr>
              <Table.Th fw={500} fz="xs">
                {t('postMetrics.account')}
              </Table.Th>
              {names.map((name) => (
                <Table.Th key={name} ta="right" fw={500} fz="xs">
                  {metricLabel(t, name)}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {parts.map((part) => (
              <Table.Tr key={`${part.target_id} ${part.part}`} data-metrics-of={part.network}>
                <Table.Td>
                  <AccountName
                    network={part.network}
                    handle={isThread ? `${part.account} · ${part.part + 1}` : part.account}
                  />
                  <State part={part} />
                </Table.Td>
                {names.map((name) => {
                  const value = part.latest[name]
                  return (
                    <Table.Td key={name} ta="right" className="dl-numbers" data-metric={name}>
                      {value === undefined ? <Unknown /> : number.format(value)}
                    </Table.Td>
                  )
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <MetricSeries parts={parts} />
    </Stack>
  )
}

/** A number that is not known. */
export function Unknown() {
  const { t } = useTranslation()
  return (
    <Text span c="dimmed" aria-label={t('postMetrics.unknown')} title={t('postMetrics.unknown')}>
      –
    </Text>
  )
}

function State({ part }: { part: Schemas['PostMetricsPart'] }) {
  const { t } = useTranslation()
  if (part.state !== 'measured')
    return (
      <Badge
        size="sm"
        variant="light"
        tt="none"
        color={part.state === 'deleted' ? 'red' : 'gray'}
        data-state={part.state}
      >
        {t(`postMetrics.states.${part.state}`)}
      </Badge>
    )
  return (
    <Text size="xs" c="dimmed">
      {part.measured_at && <Ago at={part.measured_at} />}
      {part.next_at && (
        <>
          {' · '}
          {t('postMetrics.next')} <Ago at={part.next_at} />
        </>
      )}
    </Text>
  )
}
