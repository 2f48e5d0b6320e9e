import '@mantine/dates/styles.css'
import 'dayjs/locale/vi'
import { DateInput } from '@mantine/dates'
import { IconCalendar } from '@tabler/icons-react'
import dayjs from 'dayjs'
import { useTranslation } from 'react-i18next'
import type { DayFieldProps } from './DayField'

/** The day that a text such as 1/5/2026 or 2026-05-01 means. */
function parse(text: string, format: string): string | null {
  const [, day, month, year] = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})$/.exec(text.trim()) ?? []
  const date = year
    ? dayjs(`${year}-${month?.padStart(2, '0')}-${day?.padStart(2, '0')}`)
    : dayjs(text, /^\d{4}-/.test(text) ? undefined : format)
  return date.isValid() ? date.format('YYYY-MM-DD') : null
}

export default function DayInput({ value, onChange, min, max, size, label, hideLabel, ...props }: DayFieldProps) {
  const { t, i18n } = useTranslation()
  const format = i18n.language === 'vi' ? 'D/M/YYYY' : 'D MMM YYYY'
  return (
    <DateInput
      {...props}
      {...(hideLabel ? { 'aria-label': label } : { label })}
      leftSection={<IconCalendar size={16} aria-hidden />}
      size={size}
      clearable={props.clearable ?? true}
      clearButtonProps={{ 'aria-label': t('calendar.clearDates') }}
      locale={i18n.language}
      firstDayOfWeek={1}
      weekendDays={[]}
      valueFormat={format}
      dateParser={(text) => parse(text, format)}
      minDate={min || undefined}
      maxDate={max || undefined}
      ariaLabels={{ nextMonth: t('when.nextMonth'), previousMonth: t('when.previousMonth') }}
      placeholder={props.placeholder ?? t('when.dayFormat')}
      value={value || null}
      onChange={(day) => onChange(day ?? '')}
    />
  )
}
