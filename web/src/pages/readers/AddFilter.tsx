import { Button, MultiSelect, Popover, Select, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconFilterPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { errorText } from '../../lib/notify'
import { tableOf } from './numbers'
import { type ReportQuery, reportQuery } from './query'
import { type Filter, type FilterName, filterNames, maxFilters, textOf } from './search'
import { useValueName } from './useValueName'

interface Props {
  query: ReportQuery
  filters: Filter[]
  combinable: readonly string[]
  apply: (filters: string[] | undefined) => void
}

/** Adds a filter by any dimension. What is not counted together with the filters is disabled, with the reason. */
export default function AddFilter({ query, filters, combinable, apply }: Props) {
  const { t } = useTranslation()
  const [opened, { toggle, close }] = useDisclosure()
  return (
    <Popover opened={opened} onChange={(o) => !o && close()} position="bottom-end" trapFocus returnFocus width={320}>
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          onClick={toggle}
          leftSection={<IconFilterPlus size={14} aria-hidden />}
          aria-expanded={opened}
        >
          {t('report.addFilter')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('report.addFilter')}>
        {opened && (
          <Choice
            query={query}
            filters={filters}
            combinable={combinable}
            apply={(next) => {
              close()
              apply(next)
            }}
          />
        )}
      </Popover.Dropdown>
    </Popover>
  )
}

function Choice({ query, filters, combinable, apply }: Props) {
  const { t, i18n } = useTranslation()
  const valueName = useValueName()
  const first = filterNames.find((name) => combinable.includes(name)) ?? 'page'
  const [name, setName] = useState<FilterName>(filters.at(-1)?.name ?? first)
  const set = filters.filter((f) => f.name === name).map((f) => f.value)
  const [chosen, choose] = useState<string[]>()
  const values = chosen ?? set
  const by = tableOf(name)
  const table = useQuery(reportQuery({ ...query, compare: undefined, filter: undefined, by }))
  const known = (table.data?.tables.find((x) => x.by === by)?.rows ?? []).map((row) => row.value)
  const others = filters.filter((f) => f.name !== name)
  const isExcluded = (n: FilterName) => !combinable.includes(n)
  const excluded = filterNames.filter(isExcluded).map((n) => t(`report.filters.${n}`))
  const next = [...others.map(textOf), ...values.map((value) => textOf({ name, value }))]
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        apply(next.length > 0 ? next : undefined)
      }}
    >
      <Stack gap="xs">
        <Select
          label={t('report.filterDimension')}
          allowDeselect={false}
          data={filterNames.map((n) => ({ value: n, label: t(`report.filters.${n}`), disabled: isExcluded(n) }))}
          value={name}
          onChange={(n) => {
            setName(n as FilterName)
            choose(undefined)
          }}
          comboboxProps={{ withinPortal: false }}
        />
        <MultiSelect
          label={t('report.filterValues')}
          description={t('report.filterValuesText')}
          searchable
          clearable
          limit={100}
          maxValues={maxFilters - others.length}
          nothingFoundMessage={table.error ? errorText(table.error) : table.isPending ? '…' : t('report.nothing')}
          data={[...new Set([...set, ...known])].map((value) => ({ value, label: valueName(by, value) }))}
          value={values}
          onChange={choose}
          comboboxProps={{ withinPortal: false }}
        />
        {excluded.length > 0 && (
          <Text size="xs" c="dimmed" data-excluded>
            {t('report.notCombined', { names: new Intl.ListFormat(i18n.language).format(excluded) })}
          </Text>
        )}
        <Button type="submit" size="xs" disabled={chosen === undefined}>
          {t('report.filterApply')}
        </Button>
      </Stack>
    </form>
  )
}
