import { Button, Group, Stack, Table, Tabs, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { base } from '../../boot'
import { Failed, WaitingRows } from '../../components/states'
import { Modal } from '../../components/Modal'
import { changeOf, csvQuery, filterOf, formatMetric, groups, type TableName } from './numbers'
import { type ReportQuery, reportQuery } from './query'
import type { FilterName } from './search'
import { ChangeBadge } from './TotalCard'
import { useValueName } from './useValueName'

type ReportTable = Schemas['ReportTable']

interface Props {
  query: ReportQuery
  tables: ReportTable[]
  filterBy: (name: FilterName, value: string) => void
}

/** The tables of a report, in cards of related ones. */
export function ReportTables({ query, tables, filterBy }: Props) {
  return groups.map((group) => {
    const found = group.flatMap((by) => tables.find((t) => t.by === by) ?? [])
    return found.length > 0 && <Card key={group[0]} query={query} tables={found} filterBy={filterBy} />
  })
}

/** The rows of an overview's tables; more are in the dialog. */
const overviewRows = 10

function Card({ query, tables, filterBy }: Props) {
  const { t } = useTranslation()
  const [chosen, choose] = useState<string | null>(null)
  const [showsAll, setShowsAll] = useState(false)
  const table = tables.find((x) => x.by === chosen) ?? tables[0]
  if (!table) return null
  const name = t(`report.tables.${table.by}`)
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={name} data-table={table.by}>
      <Tabs value={table.by} onChange={choose} keepMounted={false}>
        <Tabs.List mb="xs">
          {tables.map((x) => (
            <Tabs.Tab key={x.by} value={x.by} px="sm">
              {t(`report.tables.${x.by}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tables.map((x) => (
          <Tabs.Panel key={x.by} value={x.by}>
            <Rows table={x} filterBy={filterBy} />
          </Tabs.Panel>
        ))}
      </Tabs>
      <Group gap="xs" mt="auto" justify="flex-end">
        {table.rows.length >= overviewRows && (
          <Button size="compact-sm" variant="subtle" onClick={() => setShowsAll(true)}>
            {t('report.showAll')}
          </Button>
        )}
        <CSV query={query} by={table.by} name={name} />
      </Group>
      {showsAll && (
        <Modal
          opened
          onClose={() => setShowsAll(false)}
          size="lg"
          title={name}
          closeButtonProps={{ 'aria-label': t('close') }}
        >
          <All
            query={query}
            by={table.by}
            filterBy={(filter, value) => {
              setShowsAll(false)
              filterBy(filter, value)
            }}
          />
        </Modal>
      )}
    </Stack>
  )
}

/** A link to a table as CSV. */
export function CSV({ query, by, name }: { query: ReportQuery; by: TableName; name: string }) {
  const { t } = useTranslation()
  return (
    <Button
      component="a"
      size="compact-sm"
      variant="subtle"
      href={`${base}/api/v1/sites/${query.site}/report?${csvQuery(query, by, query.compare, query.filter)}`}
      download
      leftSection={<IconDownload size={16} aria-hidden />}
      aria-label={t('report.csvOf', { table: name })}
      data-csv={by}
    >
      CSV
    </Button>
  )
}

function All({ query, by, filterBy }: { query: ReportQuery; by: TableName; filterBy: Props['filterBy'] }) {
  const report = useQuery(reportQuery({ ...query, by }))
  if (report.error) return <Failed error={report.error} retry={() => void report.refetch()} />
  const table = report.data?.tables[0]
  return table ? <Rows table={table} filterBy={filterBy} /> : <WaitingRows height={24} />
}

function Rows({ table, filterBy }: { table: ReportTable; filterBy: Props['filterBy'] }) {
  const { t, i18n } = useTranslation()
  const valueName = useValueName()
  const number = new Intl.NumberFormat(i18n.language)
  const name = t(`report.tables.${table.by}`)
  const count = (totals: Schemas['ReportTotals']) => totals[table.metric] ?? 0
  const most = Math.max(1, ...table.rows.map((row) => count(row.totals)))
  const isCompared = table.rows.some((row) => row.previous !== undefined)
  const isEngaged = table.rows.some((row) => row.totals.median_seconds !== undefined)
  const filter = filterOf[table.by]
  // What is counted but not listed is a row of its own: there is data.
  if (table.rows.length === 0 && !table.rest)
    return (
      <Text size="sm" c="dimmed">
        {t('report.nothing')}
      </Text>
    )
  return (
    <Table layout="fixed" withRowBorders={false} verticalSpacing={2} horizontalSpacing={6}>
      <caption className="dl-hidden">{name}</caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>
            <VisuallyHidden>{name}</VisuallyHidden>
          </Table.Th>
          <Table.Th w={118} ta="right" fw={500} fz="xs" style={{ whiteSpace: 'nowrap' }}>
            {t(`report.metrics.${table.metric}`)}
          </Table.Th>
          {isEngaged && (
            <Table.Th w={70} ta="right" fw={500} fz="xs" visibleFrom="sm">
              {t('report.engaged')}
            </Table.Th>
          )}
          {isCompared && (
            <Table.Th w={78} ta="right" fw={500} fz="xs">
              {t('report.change')}
            </Table.Th>
          )}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {table.rows.map((row) => {
          const change = changeOf(count(row.totals), row.previous)
          const label = row.property ? `${row.property}: ${row.value}` : valueName(table.by, row.value)
          const bar = {
            background: `linear-gradient(to right, var(--mantine-color-indigo-light) ${(count(row.totals) / most) * 100}%, transparent 0)`,
            borderRadius: 'var(--mantine-radius-sm)',
          }
          return (
            <Table.Tr key={`${row.property} ${row.value}`} data-row={row.value}>
              <Table.Td>
                {filter ? (
                  <UnstyledButton
                    w="100%"
                    px={6}
                    py={4}
                    style={bar}
                    onClick={() => filterBy(filter, row.value)}
                    title={label}
                    aria-label={t('report.filterBy', { value: label })}
                  >
                    <Text size="sm" truncate>
                      {label}
                    </Text>
                  </UnstyledButton>
                ) : (
                  <Text size="sm" truncate px={6} py={4} style={bar} title={label}>
                    {label}
                  </Text>
                )}
              </Table.Td>
              <Table.Td ta="right" className="dl-numbers" data-number>
                {number.format(count(row.totals))}
              </Table.Td>
              {isEngaged && (
                <Table.Td ta="right" className="dl-numbers" visibleFrom="sm" data-engaged>
                  {formatMetric(row.totals.median_seconds, 'duration', i18n.language)}
                </Table.Td>
              )}
              {isCompared && (
                <Table.Td ta="right">
                  {change ? (
                    <ChangeBadge change={change} />
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
        {table.rest !== undefined && table.rest > 0 && (
          <Table.Tr data-rest>
            <Table.Td>
              <Text size="sm" c="dimmed" px={6}>
                {t('report.rest')}
              </Text>
            </Table.Td>
            <Table.Td ta="right" className="dl-numbers">
              {number.format(table.rest)}
            </Table.Td>
            {isEngaged && <Table.Td visibleFrom="sm" />}
            {isCompared && <Table.Td />}
          </Table.Tr>
        )}
      </Table.Tbody>
    </Table>
  )
}
