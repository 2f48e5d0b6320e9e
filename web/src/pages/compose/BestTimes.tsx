import { Button, Group, Text } from '@mantine/core'
import { IconTrendingUp } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { memo } from 'react'
import { useTranslation } from 'react-i18next'
import { InlineFailed } from '../../components/states'
import { bestTimesQuery } from '../../lib/queries'
import { format, toWall, type Wall } from '../../lib/time'

/** Times at which earlier posts on these accounts did better, with the number of posts that say so. */
export const BestTimes = memo(function BestTimes({
  accounts,
  zone,
  choose,
}: {
  accounts: string[]
  zone: string
  choose: (when: Wall) => void
}) {
  const { t, i18n } = useTranslation()
  const query = useQuery({
    ...bestTimesQuery(accounts, zone),
    enabled: accounts.length > 0,
    placeholderData: keepPreviousData,
  })
  const best = query.data
  if (query.error && accounts.length > 0)
    return <InlineFailed what={t('best.failed')} error={query.error} retry={() => void query.refetch()} />
  if (!best || accounts.length === 0 || best.posts === 0) return null
  if (best.posts < best.posts_needed)
    return (
      <Text size="sm" c="dimmed" data-best-times="few">
        {t('best.few', { count: best.posts, needed: best.posts_needed })}
      </Text>
    )
  if (best.times.length === 0)
    return (
      <Text size="sm" c="dimmed" data-best-times="none">
        {t('best.none', { count: best.posts })}
      </Text>
    )
  const more = new Intl.NumberFormat(i18n.language, { style: 'percent', signDisplay: 'always' })
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would change the layout
    <div role="group" aria-label={t('best.title')} data-best-times="some">
      <Text size="sm" c="dimmed" mb={4} title={t('best.text', { count: best.posts })}>
        {t('best.title')}
      </Text>
      <Group gap={6}>
        {best.times.slice(0, 3).map((b) => (
          <Button
            key={b.at}
            size="compact-sm"
            variant="default"
            leftSection={<IconTrendingUp size={15} aria-hidden />}
            rightSection={
              <Text span size="xs" c="dimmed">
                {t('best.sample', { lift: more.format(b.lift - 1), count: b.posts })}
              </Text>
            }
            data-best={b.at}
            onClick={() => choose(toWall(b.at, zone).slice(0, 16))}
          >
            {format(b.at, i18n.language, zone, {
              weekday: 'short',
              hour: '2-digit',
              minute: '2-digit',
              hourCycle: 'h23',
            })}
          </Button>
        ))}
      </Group>
    </div>
  )
})
