import { Button, Group, Stack, Table, Text, Textarea, Title, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Failed, WaitingRows } from '../../components/states'
import { useAct } from '../../lib/act'
import { useAtLeast } from '../../lib/session'
import { toWall } from '../../lib/time'
import { formatMetric } from './numbers'
import { formatEvents, formatGoals, parseEvents, parseGoals } from './events'
import { reportQuery } from './query'
import { RangePicker } from './RangePicker'
import { CSV } from './ReportTables'
import { rangeOf, type ReadersSearch } from './search'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

/** Reports on the events and goals of a site, and declares them. */
export function Goals({ site, search }: { site: Schemas['Site']; search: ReadersSearch }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const may = useAtLeast('editor')
  const [editing, edit] = useDisclosure()
  const today = toWall(Date.now(), site.time_zone).slice(0, 10)
  const range = rangeOf(search, today)
  const change = (to: Partial<ReadersSearch>) =>
    void navigate({ to: '/readers', search: { ...search, site: site.id, ...to }, resetScroll: false })
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <RangePicker search={search} range={range} today={today} change={change} />
        {may && (
          <Button variant="default" onClick={edit.open}>
            {t('report.declareEvents')}
          </Button>
        )}
      </Group>
      <EventTable by="goals" query={{ site: site.id, ...range, by: 'goals' }} />
      <EventTable
        by="events"
        query={{ site: site.id, ...range, by: 'events' }}
        show={(name) => change({ tab: undefined, filter: [`event:${name}`] })}
      />
      {editing && <Declare site={site} close={edit.close} />}
    </Stack>
  )
}

function EventTable({
  by,
  query,
  show,
}: {
  by: 'goals' | 'events'
  query: Parameters<typeof reportQuery>[0]
  show?: (name: string) => void
}) {
  const { t, i18n } = useTranslation()
  const report = useQuery(reportQuery(query))
  const name = t(`report.tables.${by}`)
  const table = report.data?.tables[0]
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={name} data-table={by}>
      <Group justify="space-between">
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
          {t(by === 'goals' ? 'report.noGoals' : 'report.noEvents')}
        </Text>
      ) : (
        <Table withRowBorders={false} verticalSpacing={4} horizontalSpacing={6}>
          <caption className="dl-hidden">{name}</caption>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>
                <VisuallyHidden>{name}</VisuallyHidden>
              </Table.Th>
              <Table.Th ta="right" fw={500} fz="xs">
                {t(by === 'goals' ? 'report.metrics.conversions' : 'report.metrics.events')}
              </Table.Th>
              {by === 'goals' && (
                <Table.Th ta="right" fw={500} fz="xs">
                  {t('report.conversionRate')}
                </Table.Th>
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {table.rows.map((row) => (
              <Table.Tr key={row.value} data-row={row.value}>
                <Table.Td maw={260}>
                  {show ? (
                    <UnstyledButton
                      w="100%"
                      py={2}
                      onClick={() => show(row.value)}
                      aria-label={t('report.filterBy', { value: row.value })}
                    >
                      <Text size="sm" truncate>
                        {row.value}
                      </Text>
                    </UnstyledButton>
                  ) : (
                    <Text size="sm" truncate>
                      {row.value}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td ta="right" className="dl-numbers" data-number>
                  {formatMetric(by === 'goals' ? row.totals.conversions : row.totals.events, 'count', i18n.language)}
                </Table.Td>
                {by === 'goals' && (
                  <Table.Td ta="right" className="dl-numbers" data-rate>
                    {formatMetric(row.conversion_rate, 'rate', i18n.language)}
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  )
}

/** Edits the declared events and the goals as text, one per line. */
function Declare({ site, close }: { site: Schemas['Site']; close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = `goals ${site.id}`
  const [events, setEvents] = useFormState(form, 'events', formatEvents(site.events))
  const [goals, setGoals] = useFormState(form, 'goals', formatGoals(site.goals))
  const save = useAct({
    send: () => {
      const declared = parseEvents(events)
      return unwrap(
        api.PATCH('/api/v1/sites/{id}', {
          params: { path: { id: site.id } },
          body: { events: declared, goals: parseGoals(goals) },
        }),
      )
    },
    accepted: async () => {
      forget(form)
      await client.invalidateQueries()
      close()
    },
    done: () => t('act.saved', { name: site.name }),
    failed: false,
  })
  return (
    <FormDialog form={form} opened onClose={close} size="lg" title={t('report.declareEvents')}>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          save.mutate()
        }}
      >
        <Stack>
          <Text size="sm">{t('report.declareEventsText')}</Text>
          <Textarea
            label={t('report.eventsLabel')}
            description={t('report.eventsHelp')}
            autosize
            minRows={3}
            value={events}
            onChange={(e) => setEvents(e.currentTarget.value)}
          />
          <Textarea
            label={t('report.goalsLabel')}
            description={t('report.goalsHelp')}
            autosize
            minRows={3}
            value={goals}
            onChange={(e) => setGoals(e.currentTarget.value)}
          />
          {save.error && <Failed error={save.error} />}
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending}>
              {t('report.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </FormDialog>
  )
}
