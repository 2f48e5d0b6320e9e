import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { bestTimesQuery } from '../../lib/queries'
import { dayName, days } from '../../lib/rule'

type Slot = Schemas['QueueSlot']

/** Suggests slots from the clicks on earlier posts, or their engagement. Absent while nothing is suggested. */
export function BestTimes({
  accounts,
  zone,
  isTaken,
  add,
}: {
  accounts: string[]
  zone: string
  isTaken: (slot: Slot) => boolean
  add: (slot: Slot) => void
}) {
  const { t, i18n } = useTranslation()
  const best = useQuery({ ...bestTimesQuery(accounts, zone), retry: false, enabled: accounts.length > 0 }).data
  if (!best || best.times.length === 0) return null
  const percent = new Intl.NumberFormat(i18n.language, { style: 'percent', signDisplay: 'always' })
  const slots = best.times.map((b) => ({
    ...b,
    slot: { weekday: b.weekday, time: `${String(b.hour).padStart(2, '0')}:00` },
  }))
  return (
    <Stack gap={6} data-slot-suggestions={slots.length}>
      <Text size="sm" fw={500}>
        {t('groups.bestTimes')}
      </Text>
      <Text size="xs" c="dimmed">
        {t('groups.bestTimesText', { posts: best.posts })}
      </Text>
      <Group gap={6}>
        {slots.map(({ slot, lift, posts }) => {
          const day = days[slot.weekday - 1]
          if (!day || isTaken(slot)) return null
          return (
            <Button
              key={`${slot.weekday} ${slot.time}`}
              size="compact-xs"
              variant="default"
              title={t('groups.bestTimePosts', { count: posts })}
              onClick={() => add(slot)}
            >
              {dayName(day, i18n.language, 'short')} {slot.time} ({percent.format(lift - 1)})
            </Button>
          )
        })}
      </Group>
    </Stack>
  )
}
