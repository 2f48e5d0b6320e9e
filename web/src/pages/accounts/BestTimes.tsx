import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { dayName, days } from '../../lib/rule'

type Slot = Schemas['QueueSlot']

const period = 90 // days

const dateAgo = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)

/** Suggests slots from how posts of the last months did. Absent while there are too few posts. */
export function BestTimes({ accounts, zone, isTaken, add }: { accounts: string[]; zone: string; isTaken: (slot: Slot) => boolean; add: (slot: Slot) => void }) {
  const { t, i18n } = useTranslation()
  const found = useQuery({
    queryKey: ['best-times', accounts, zone],
    retry: false,
    enabled: accounts.length > 0 && accounts.length <= 50,
    queryFn: () => unwrap(api.GET('/api/v1/reports/posts/best-times', { params: { query: { from: dateAgo(period), to: dateAgo(0), account: accounts, time_zone: zone } } })),
  }).data
  if (!found) return null
  const percent = new Intl.NumberFormat(i18n.language, { style: 'percent', signDisplay: 'always' })
  const times = found.times.filter((s) => !isTaken({ weekday: s.weekday, time: s.time }))
  return (
    <Stack gap={6} data-best-times={found.times.length}>
      <Text size="sm" fw={500}>
        {t('groups.bestTimes')}
      </Text>
      <Text size="xs" c="dimmed">
        {found.posts < found.min_posts ? t('groups.bestTimesTooFew', { posts: found.posts, required: found.min_posts }) : t('groups.bestTimesText', { days: period, posts: found.posts })}
      </Text>
      <Group gap={6}>
        {times.map((s) => {
          const day = days[s.weekday - 1]
          return (
            day && (
              <Button key={`${s.weekday} ${s.time}`} size="compact-xs" variant="default" title={t('groups.bestTimePosts', { count: s.posts })} onClick={() => add({ weekday: s.weekday, time: s.time })}>
                {dayName(day, i18n.language, 'short')} {s.time} ({percent.format(s.lift - 1)})
              </Button>
            )
          )
        })}
      </Group>
    </Stack>
  )
}
