import '@mantine/dates/styles.css'
import 'dayjs/locale/vi'
import { DatePickerInput } from '@mantine/dates'
import { IconCalendarSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

/** The first and the last day of what is searched. Weeks begin on Monday. */
export default function DateRange({
  from,
  to,
  onChange,
}: {
  from?: string
  to?: string
  onChange: (from?: string, to?: string) => void
}) {
  const { t, i18n } = useTranslation()
  // While only one end is chosen, the list stays as it is.
  const [chosen, setChosen] = useState<[string | null, string | null]>([from ?? null, to ?? null])
  return (
    <DatePickerInput
      type="range"
      label={t('calendar.dates')}
      placeholder={t('calendar.allDates')}
      clearable
      clearButtonProps={{ 'aria-label': t('calendar.clearDates') }}
      allowSingleDateInRange
      locale={i18n.language}
      firstDayOfWeek={1}
      weekendDays={[]}
      valueFormat={i18n.language === 'vi' ? 'D/M/YYYY' : 'D MMM YYYY'}
      leftSection={<IconCalendarSearch size={16} aria-hidden />}
      ariaLabels={{ nextMonth: t('when.nextMonth'), previousMonth: t('when.previousMonth') }}
      w={{ base: '100%', xs: 170 }}
      value={chosen}
      onChange={(range) => {
        setChosen(range)
        const [first, last] = range
        if ((first === null) === (last === null)) onChange(first ?? undefined, last ?? undefined)
      }}
    />
  )
}
