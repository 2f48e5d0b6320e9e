import '@mantine/dates/styles.css'
import 'dayjs/locale/vi'
import { Button, Group, Popover, Select, SimpleGrid, Stack } from '@mantine/core'
import { DatePicker } from '@mantine/dates'
import { useDisclosure } from '@mantine/hooks'
import { IconCalendar } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { formatRange } from '../../lib/time'
import { type Comparison, comparisons, defaultPreset, presets, type Range, type ReadersSearch } from './search'

interface Props {
  search: ReadersSearch
  range: Range
  today: string
  /** Changes parameters of the URL. */
  change: (search: Partial<ReadersSearch>) => void
}

/** Selects the days of a report and the compared period. */
export function RangePicker({ search, range, today, change }: Props) {
  const { t, i18n } = useTranslation()
  const [opened, { toggle, close }] = useDisclosure()
  const [custom, setCustom] = useState<[string | null, string | null]>([range.from, range.to])
  const current = search.from ? undefined : (search.range ?? defaultPreset)
  const days = formatRange(range.from, range.to, i18n.language)
  const select = (value: Partial<ReadersSearch>) => {
    change({ range: undefined, from: undefined, to: undefined, ...value })
    close()
  }
  return (
    <Group gap="xs" align="flex-end">
      <Popover
        opened={opened}
        onChange={(open) => !open && close()}
        onOpen={() => setCustom([range.from, range.to])}
        trapFocus
        returnFocus
        position="bottom-start"
        withinPortal
      >
        <Popover.Target>
          <Button
            variant="default"
            leftSection={<IconCalendar size={18} aria-hidden />}
            onClick={toggle}
            aria-label={t('report.rangeIs', { range: current ? `${t(`report.presets.${current}`)}, ${days}` : days })}
            data-range={`${range.from} ${range.to}`}
          >
            {current ? t(`report.presets.${current}`) : days}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t('report.range')}>
          <Stack gap="xs" w={280}>
            <SimpleGrid cols={2} spacing={6}>
              {presets.map((preset) => (
                <Button
                  key={preset}
                  size="xs"
                  variant={preset === current ? 'light' : 'default'}
                  aria-pressed={preset === current}
                  onClick={() => select({ range: preset })}
                >
                  {t(`report.presets.${preset}`)}
                </Button>
              ))}
            </SimpleGrid>
            <DatePicker
              type="range"
              allowSingleDateInRange
              hideOutsideDates
              locale={i18n.language}
              firstDayOfWeek={1}
              weekendDays={[]}
              maxDate={today}
              defaultDate={range.to}
              value={custom}
              onChange={(value) => {
                setCustom(value)
                const [from, to] = value
                if (from && to) select({ from, to })
              }}
              ariaLabels={{ nextMonth: t('when.nextMonth'), previousMonth: t('when.previousMonth') }}
              getDayProps={(day) => ({ 'data-date': day })}
            />
          </Stack>
        </Popover.Dropdown>
      </Popover>
      <Select
        aria-label={t('report.compare')}
        allowDeselect={false}
        w={200}
        data={[
          { value: '', label: t('report.comparisons.none') },
          ...comparisons.map((value) => ({ value, label: t(`report.comparisons.${value}`) })),
        ]}
        value={search.compare ?? ''}
        onChange={(value) => change({ compare: value ? (value as Comparison) : undefined })}
      />
    </Group>
  )
}
