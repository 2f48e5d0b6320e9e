import '@mantine/dates/styles.css'
import { TimePicker } from '@mantine/dates'
import { useTranslation } from 'react-i18next'

/** A time of the day on a 24-hour clock, such as 22:30; empty: none. */
export default function ClockField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (time: string) => void
}) {
  const { t } = useTranslation()
  return (
    <TimePicker
      label={label}
      format="24h"
      clearable
      clearButtonProps={{ 'aria-label': `${t('when.clear')}: ${label}` }}
      hoursInputLabel={`${label}: ${t('when.hour')}`}
      minutesInputLabel={`${label}: ${t('when.minute')}`}
      value={value}
      onChange={(time) => onChange(time.slice(0, 5))}
    />
  )
}
