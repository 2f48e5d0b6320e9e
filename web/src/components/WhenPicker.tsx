import '@mantine/dates/styles.css'
import 'dayjs/locale/vi'
import { Button, Group, Stack, Text } from '@mantine/core'
import { DatePicker, TimePicker } from '@mantine/dates'
import { IconBolt, IconClockHour9, IconHourglass, IconPlaylistAdd } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { offsetName, toInstant, toWall, type Wall } from '../lib/time'
import { commonTimes, formatWhen } from '../lib/when'

interface Props {
  value: Wall | ''
  zone: string
  onChange: (when: Wall) => void
  nextSlot?: string
  close: () => void
}

/** A month, a 24-hour clock and the most common times. Weeks begin on Monday. */
export default function WhenPicker({ value, zone, onChange, nextSlot, close }: Props) {
  const { t, i18n } = useTranslation()
  const now = toWall(Date.now(), zone)
  const date = value.slice(0, 10) || null
  const clock = value.slice(11, 16) || '09:00'
  const short = (when: Wall) => formatWhen(when, i18n.language).replace(/[/ ]\d{4}/, '')
  const slot = nextSlot ? toWall(nextSlot, zone).slice(0, 16) : undefined
  const common = commonTimes(zone)
  const shortcuts = [
    { icon: IconHourglass, label: t('when.inOneHour'), when: common.inOneHour },
    { icon: IconClockHour9, label: t('when.tomorrow'), when: common.tomorrow },
    { icon: IconBolt, label: t('when.monday'), when: common.monday },
    ...(slot ? [{ icon: IconPlaylistAdd, label: t('when.nextSlot'), when: slot }] : []),
  ]
  return (
    <Stack gap="xs" w={312}>
      <DatePicker
        size="md"
        locale={i18n.language}
        firstDayOfWeek={1}
        weekendDays={[]}
        minDate={now.slice(0, 10)}
        defaultDate={date ?? now.slice(0, 10)}
        value={date}
        onChange={(d) => d && onChange(`${d}T${clock}`)}
        ariaLabels={{ nextMonth: t('when.nextMonth'), previousMonth: t('when.previousMonth') }}
        getDayProps={(d) => ({ 'data-date': d })}
      />
      <Group justify="space-between" wrap="nowrap">
        <TimePicker
          aria-label={t('when.clock')}
          format="24h"
          hoursInputLabel={t('when.hour')}
          minutesInputLabel={t('when.minute')}
          value={clock}
          onChange={(time) => time && onChange(`${date ?? now.slice(0, 10)}T${time.slice(0, 5)}`)}
        />
        <Text size="xs" c="dimmed" ta="right">
          {zone.replaceAll('_', ' ')}
          <br />
          {offsetName(zone, value ? toInstant(value, zone).getTime() : Date.now())}
        </Text>
      </Group>
      <Stack gap={2}>
        {shortcuts.map(({ icon: Icon, label, when }) =>
          when ? (
            <Button
              key={label}
              variant="subtle"
              color="gray"
              size="compact-sm"
              justify="space-between"
              fullWidth
              leftSection={<Icon size={16} aria-hidden />}
              rightSection={
                <Text size="xs" c="dimmed" className="dl-numbers" span>
                  {short(when)}
                </Text>
              }
              styles={{ label: { flex: 1, textAlign: 'left', color: 'var(--mantine-color-text)' } }}
              onClick={() => {
                onChange(when)
                close()
              }}
            >
              {label}
            </Button>
          ) : null,
        )}
      </Stack>
    </Stack>
  )
}
