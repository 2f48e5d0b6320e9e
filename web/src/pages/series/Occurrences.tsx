import { Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { LinkAnchor } from '../../components/links'
import { type AnyStatus, looks, StatusBadge } from '../../components/status'
import { Time } from '../../components/Time'
import { errorText } from '../../lib/notify'
import { useSeriesChange } from './useSeriesChange'

const few = 5
const many = 50

const isStatus = (state: string): state is AnyStatus => state in looks

/** The upcoming occurrences of a series; each can be skipped and restored. */
export function Occurrences({ series: s, may }: { series: Schemas['Series']; may: boolean }) {
  const { t } = useTranslation()
  const [limit, setLimit] = useState(few)
  const change = useSeriesChange()
  const list = useQuery({
    queryKey: ['series', s.id, 'occurrences', s.version, limit],
    placeholderData: (before) => before,
    queryFn: async () =>
      (await unwrap(api.GET('/api/v1/series/{id}/occurrences', { params: { path: { id: s.id }, query: { limit } } })))
        .occurrences,
  })
  const set = (occurrence: string, skip: boolean) => {
    const request = { params: { path: { id: s.id } }, body: { occurrence } }
    change.mutate({
      send: () =>
        skip
          ? unwrap(api.POST('/api/v1/series/{id}/skip', request))
          : unwrap(api.POST('/api/v1/series/{id}/unskip', request)),
    })
  }
  if (list.error)
    return (
      <Text size="sm" c="var(--mantine-color-error)">
        {errorText(list.error)}
      </Text>
    )
  if (!list.data) return <Skeleton height={120} />
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {t('series.upcoming')}
      </Text>
      {list.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('series.noUpcoming')}
        </Text>
      )}
      <Stack gap={2} component="ul" p={0} m={0} maw={640} style={{ listStyle: 'none' }}>
        {list.data.map((o) => {
          const skipped = o.state === 'skipped'
          return (
            <Group
              key={o.occurrence}
              component="li"
              justify="space-between"
              wrap="nowrap"
              gap="sm"
              mih={34}
              data-occurrence={o.occurrence}
              data-state={o.state}
            >
              <Group gap="4px 12px" py={4} miw={0}>
                <Text size="sm" td={skipped ? 'line-through' : undefined} c={skipped ? 'dimmed' : undefined}>
                  {o.post_id && !skipped ? (
                    <LinkAnchor to="/posts/$id" params={{ id: o.post_id }} inherit>
                      <Time at={o.scheduled_time} zone={s.time_zone} />
                    </LinkAnchor>
                  ) : (
                    <Time at={o.scheduled_time} zone={s.time_zone} />
                  )}
                </Text>
                {isStatus(o.state) ? (
                  <StatusBadge status={o.state} size="sm" />
                ) : (
                  <Text size="xs" c="dimmed">
                    {t(`series.state.${o.state as 'planned'}`, { defaultValue: o.state })}
                  </Text>
                )}
              </Group>
              {may && (skipped || o.state === 'planned' || o.state === 'scheduled' || o.state === 'draft') && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  color={skipped ? undefined : 'gray'}
                  disabled={change.isPending}
                  onClick={() => set(o.occurrence, !skipped)}
                  style={{ flexShrink: 0 }}
                >
                  {t(skipped ? 'series.unskip' : 'series.skip')}
                </Button>
              )}
            </Group>
          )
        })}
      </Stack>
      {limit === few && list.data.length === few && (
        <Button size="compact-sm" variant="subtle" onClick={() => setLimit(many)} style={{ alignSelf: 'flex-start' }}>
          {t('more')}
        </Button>
      )}
    </Stack>
  )
}
