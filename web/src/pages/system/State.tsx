import { Alert, Badge, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconUrgent } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { LinkAnchor } from '../../components/links'
import { NetworkIcon, networkName } from '../../components/network'
import { Failed, WaitingCards } from '../../components/states'
import { Time } from '../../components/Time'
import { alertText } from '../../i18n/message'
import { SearchIndex } from './SearchIndex'
import { engineName, useAmounts } from './words'

type System = Schemas['SystemStatus']

const every = 5000

/** The state of the installation: alerts, backlog, lateness, and engines. */
export function State() {
  const { t } = useTranslation()
  const state = useQuery({
    queryKey: ['system'],
    refetchInterval: every,
    queryFn: () => unwrap(api.GET('/api/v1/system')),
  })
  if (state.error && !state.data) return <Failed error={state.error} retry={() => void state.refetch()} />
  if (!state.data) return <WaitingCards height={110} />
  const s = state.data
  return (
    <Stack gap="lg">
      {state.error && <Failed error={state.error} retry={() => void state.refetch()} />}
      <Alerts state={s} />
      <Numbers state={s} />
      <Engines state={s} />
      <SearchIndex />
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
        <Lateness all={s.lateness} />
        <Queues all={s.queues} />
      </SimpleGrid>
      <Text size="sm" c="dimmed">
        {t('system.version', { version: s.version })} ·{' '}
        {t('system.timeZones', {
          version: s.time_zones.version,
          source: s.time_zones.source === 'built in' ? t('system.builtIn') : s.time_zones.source,
        })}{' '}
        · {t('system.seen')} <Time at={s.at} look="short" />
      </Text>
    </Stack>
  )
}

function Alerts({ state }: { state: System }) {
  const { t } = useTranslation()
  if (state.alerts.length === 0)
    return (
      <Alert color="green" icon={<IconCircleCheck aria-hidden />} title={t('system.ready')} role="status">
        {t('system.noAlerts')}
      </Alert>
    )
  return (
    <Stack gap="xs" role="status" aria-label={t('system.alerts')}>
      {state.alerts.map((a) => (
        <Alert
          key={`${a.name} ${a.subject}`}
          color={a.severity === 'critical' ? 'red' : 'yellow'}
          icon={a.severity === 'critical' ? <IconUrgent aria-hidden /> : <IconAlertTriangle aria-hidden />}
          title={t(`alert.${a.name as 'EngineDown'}`, {
            defaultValue: a.name,
            about: a.subject ? engineName(t, a.subject) : '',
          })}
          data-alert={a.name}
        >
          <Text size="sm" className="dl-text">
            {alertText({ ...a, code: a.name })}
          </Text>
          {a.name === 'AccountsNeedReconnect' || a.name === 'AccountAccessExpiring' ? (
            <LinkAnchor to="/accounts" size="sm">
              {t('nav.accounts')}
            </LinkAnchor>
          ) : a.name === 'DeadLettersGrowing' || a.name === 'PostsUncertain' ? (
            <LinkAnchor to="/dead-letters" size="sm">
              {t('nav.deadLetters')}
            </LinkAnchor>
          ) : null}
        </Alert>
      ))}
    </Stack>
  )
}

/** The backlog; numbers that should be zero are highlighted if they are not. */
function Numbers({ state: s }: { state: System }) {
  const { t } = useTranslation()
  const { number } = useAmounts()
  const dead = Object.values(s.dead_letters).reduce((sum, n) => sum + n, 0)
  const figures: [
    name:
      | 'scheduled'
      | 'due'
      | 'armed'
      | 'publishing'
      | 'overdue'
      | 'parked'
      | 'deadLetters'
      | 'deliveries'
      | 'deadDeliveries'
      | 'seedsDue',
    value: number | undefined,
    wrong?: boolean,
  ][] = [
    ['scheduled', s.posts?.scheduled],
    ['due', s.posts?.due],
    ['armed', s.armed],
    ['publishing', s.posts?.publishing],
    ['overdue', s.posts?.overdue, true],
    ['parked', s.posts?.parked],
    ['deadLetters', dead],
    ['deliveries', s.posts?.pending_deliveries],
    ['deadDeliveries', s.posts?.failed_deliveries],
    ['seedsDue', s.crawl?.seeds_due],
  ]
  return (
    <Stack gap="xs" component="section" aria-label={t('system.waiting')}>
      <Title order={2} size="h4">
        {t('system.waiting')}
      </Title>
      <SimpleGrid cols={{ base: 2, xs: 3, md: 5 }} spacing="sm">
        {figures.map(([name, value, wrong]) => (
          <Stack key={name} gap={0} className="dl-card" p="sm" data-figure={name}>
            <Text size="sm" c="dimmed">
              {t(`system.figure.${name}`)}
            </Text>
            <Text
              size="xl"
              fw={700}
              className="dl-numbers"
              c={wrong && value ? 'var(--mantine-color-error)' : undefined}
            >
              {value === undefined ? '–' : number(value)}
            </Text>
          </Stack>
        ))}
      </SimpleGrid>
    </Stack>
  )
}

function Engines({ state: s }: { state: System }) {
  const { t } = useTranslation()
  const { bytes, number, ms } = useAmounts()
  const amount = (u: Schemas['ResourceUsage'], n: number) => (u.resource === 'connections' ? number(n) : bytes(n))
  return (
    <Stack gap="xs" component="section" aria-label={t('system.engines')}>
      <Title order={2} size="h4">
        {t('system.engines')}
      </Title>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="sm">
        {s.engines.map((e) => (
          <Group
            key={e.name}
            className="dl-card"
            p="md"
            gap="sm"
            wrap="nowrap"
            align="flex-start"
            data-check={e.name}
            data-healthy={e.healthy}
          >
            {e.healthy ? (
              <IconCircleCheck color="var(--mantine-color-green-6)" aria-hidden style={{ flexShrink: 0 }} />
            ) : (
              <IconCircleX color="var(--mantine-color-red-6)" aria-hidden style={{ flexShrink: 0 }} />
            )}
            <div style={{ minWidth: 0 }}>
              <Text fw={600}>{engineName(t, e.name)}</Text>
              <Text size="sm" c="dimmed" className="dl-text">
                {e.healthy ? t('system.ok') : <span lang="en">{e.error}</span>}
              </Text>
              {e.usage.map((u) => (
                <Text key={`${u.resource} ${u.volume}`} size="sm" c="dimmed" className="dl-numbers">
                  {t(`system.use.${(u.volume ?? u.resource) as 'memory'}`, { defaultValue: u.volume ?? u.resource })}:{' '}
                  {amount(u, u.used)}
                  {u.max !== undefined && ` / ${amount(u, u.max)}`}
                </Text>
              ))}
              {e.name === 'database' && s.database_bytes !== undefined && (
                <Text size="sm" c="dimmed" className="dl-numbers">
                  {t('system.size')}: {bytes(s.database_bytes)}
                </Text>
              )}
              {e.name === 'clock' && s.clock && (
                <Text size="sm" c="dimmed" className="dl-numbers">
                  {t('system.offset', { ms: ms(s.clock.offset_ms), within: ms(s.clock.uncertainty_ms) })}
                </Text>
              )}
            </div>
          </Group>
        ))}
      </SimpleGrid>
    </Stack>
  )
}

function Lateness({ all }: { all: Schemas['SystemLateness'][] }) {
  const { t } = useTranslation()
  const { duration, number } = useAmounts()
  return (
    <Figures
      title={t('system.lateness')}
      text={t('system.latenessText')}
      none={t('system.nothingSent')}
      columns={[
        t('calendar.network'),
        ...(['sent', 'half', 'most', 'latest'] as const).map((name) => t(`system.column.${name}`)),
      ]}
    >
      {all.map((l) => (
        <Table.Tr key={l.network ?? ''} data-lateness={l.network ?? 'all'} fw={l.network ? undefined : 600}>
          <Table.Td>
            {l.network ? (
              <Group gap={6} wrap="nowrap">
                <NetworkIcon network={l.network} />
                {networkName(l.network)}
              </Group>
            ) : (
              t('calendar.all')
            )}
          </Table.Td>
          <Numbered cells={[number(l.sent), duration(l.p50_ms), duration(l.p99_ms), duration(l.max_ms)]} />
        </Table.Tr>
      ))}
    </Figures>
  )
}

function Queues({ all }: { all: Schemas['TaskQueue'][] }) {
  const { t } = useTranslation()
  const { duration, number } = useAmounts()
  const within = (ms: number | undefined) => (ms === undefined ? '–' : `≤ ${duration(ms)}`)
  return (
    <Figures
      title={t('system.queues')}
      text={t('system.queuesText')}
      none={t('system.queuesUnknown')}
      columns={(['queue', 'waits', 'oldest', 'start50', 'start95'] as const).map((name) => t(`system.column.${name}`))}
    >
      {all.map((q) => (
        <Table.Tr key={`${q.name} ${q.kind}`} data-queue={`${q.name} ${q.kind}`}>
          <Table.Td>
            {q.name}{' '}
            <Badge variant="light" color="gray" size="sm" tt="none">
              {t(`system.queueKind.${q.kind}`)}
            </Badge>
          </Table.Td>
          <Numbered
            cells={[
              number(q.pending),
              q.pending > 0 ? duration(q.oldest_ms) : '–',
              within(q.start_p50_ms),
              within(q.start_p95_ms),
            ]}
          />
        </Table.Tr>
      ))}
    </Figures>
  )
}

/** A table whose first column names the rows. */
function Figures({
  title,
  text,
  none,
  columns,
  children,
}: {
  title: string
  text: string
  none: string
  columns: string[]
  children: ReactElement[]
}) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      <Text size="sm" c="dimmed">
        {text}
      </Text>
      {children.length === 0 ? (
        <Text size="sm" c="dimmed" className="dl-card" p="md">
          {none}
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={460} className="dl-card" scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table verticalSpacing={6} aria-label={title} className="dl-numbers">
            <Table.Thead>
              <Table.Tr>
                {columns.map((name, i) => (
                  <Table.Th key={name} ta={i ? 'right' : undefined} style={{ whiteSpace: 'nowrap' }}>
                    {name}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>{children}</Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  )
}

function Numbered({ cells }: { cells: string[] }) {
  return cells.map((text, i) => (
    <Table.Td key={i} ta="right" style={{ whiteSpace: 'nowrap' }}>
      {text}
    </Table.Td>
  ))
}
