import { Alert, Badge, Button, Code, Collapse, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconCheck, IconClock, IconRefresh, IconSkull } from '@tabler/icons-react'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Failed, WaitingRows } from '../../components/states'
import { Time } from '../../components/Time'
import { noteText } from '../../i18n/message'
import { useAct } from '../../lib/act'
import { typeKey } from './words'

type Delivery = Schemas['WebhookDelivery']

/** All but those of tests. */
const isKnown = (type: string): type is Schemas['WebhookType'] => type !== 'webhook.test'

const looks = {
  pending: { color: 'indigo', icon: IconClock },
  delivered: { color: 'green', icon: IconCheck },
  dead: { color: 'red', icon: IconSkull },
} as const
const statuses = ['all', 'pending', 'delivered', 'dead'] as const
/** The polling interval while deliveries are pending. */
const every = 3000

/** The deliveries of a webhook with their results, and redelivery. */
export function Deliveries({ hook }: { hook: string }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [status, setStatus] = useState<(typeof statuses)[number]>('all')
  const key = ['deliveries', hook, status]
  const list = useInfiniteQuery({
    queryKey: key,
    refetchInterval: every,
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/webhooks/{id}/deliveries', {
          params: {
            path: { id: hook },
            query: { limit: 20, ...(status === 'all' ? {} : { status }), ...(pageParam ? { cursor: pageParam } : {}) },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  const settled = () => void client.invalidateQueries({ queryKey: ['deliveries', hook] })
  const again = useAct({
    send: () => unwrap(api.POST('/api/v1/webhooks/{id}/redeliver-dead', { params: { path: { id: hook } } })),
    done: ({ redelivered }) => t('hooks.redelivered', { count: redelivered }),
    settled,
  })
  const all = list.data?.pages.flatMap((p) => p.deliveries) ?? []
  return (
    <Stack gap="xs" component="section" aria-label={t('hooks.deliveries')}>
      <Group justify="space-between" gap="xs">
        <SegmentedControl
          size="xs"
          aria-label={t('calendar.status')}
          value={status}
          onChange={(v) => setStatus(v as typeof status)}
          data={statuses.map((value) => ({ value, label: t(`hooks.status.${value}`) }))}
        />
        {(status === 'dead' || all.some((d) => d.status === 'dead')) && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconRefresh size={16} aria-hidden />}
            loading={again.isPending}
            onClick={() => again.mutate()}
          >
            {t('hooks.redeliverDead')}
          </Button>
        )}
      </Group>
      {list.error ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <WaitingRows rows={3} height={54} />
      ) : all.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('hooks.none')}
        </Text>
      ) : (
        <Stack gap={6} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
          {all.map((d) => (
            <One key={d.id} delivery={d} settled={settled} />
          ))}
        </Stack>
      )}
      {list.hasNextPage && (
        <Button
          size="xs"
          variant="default"
          loading={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
          style={{ alignSelf: 'flex-start' }}
        >
          {t('more')}
        </Button>
      )}
    </Stack>
  )
}

function One({ delivery: d, settled }: { delivery: Delivery; settled: () => void }) {
  const { t } = useTranslation()
  const [opened, setOpened] = useState(false)
  const { color, icon: Icon } = looks[d.status]
  const again = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver', {
          params: { path: { id: d.webhook_id, delivery: d.id } },
        }),
      ),
    done: () => t('hooks.onItsWay'),
    settled,
  })
  return (
    <Stack component="li" gap={4} className="dl-card" p="xs" data-delivery={d.id} data-outcome={d.status}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Badge variant="light" color={color} tt="none" leftSection={<Icon size={14} aria-hidden />}>
            {t(`hooks.status.${d.status}`)}
          </Badge>
          <Text size="sm" fw={600} title={d.type}>
            {isKnown(d.type) ? t(`channels.types.${typeKey(d.type)}`) : t('hooks.test')}
          </Text>
          <Text size="sm" c="dimmed">
            <Time at={d.created_at} look="short" />
          </Text>
        </Group>
        <Group gap="xs">
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            aria-expanded={opened}
            onClick={() => setOpened(!opened)}
          >
            {t('hooks.details')}
          </Button>
          <Button size="compact-sm" variant="default" loading={again.isPending} onClick={() => again.mutate()}>
            {t('hooks.redeliver')}
          </Button>
        </Group>
      </Group>
      <Text size="sm" c="dimmed">
        {t('post.attempts', { count: d.attempts })}
        {d.response_status !== undefined && ` · HTTP ${d.response_status}`}
        {d.delivered_at && (
          <>
            {' · '}
            <Time at={d.delivered_at} look="short" />
          </>
        )}
        {d.status === 'pending' && d.next_attempt_at && (
          <>
            {' · '}
            {t('hooks.next')} <Time at={d.next_attempt_at} look="short" />
          </>
        )}
      </Text>
      {d.last_error && d.status !== 'delivered' && (
        <Alert color={d.status === 'dead' ? 'red' : 'yellow'} p={6}>
          <Text size="sm" className="dl-text">
            {noteText(d.last_error)}
          </Text>
        </Alert>
      )}
      <Collapse expanded={opened}>
        <Stack gap={6}>
          <Text size="xs" fw={600}>
            {t('hooks.sent')}
          </Text>
          <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {JSON.stringify(d.payload, null, 2)}
          </Code>
          {d.response_body && (
            <>
              <Text size="xs" fw={600}>
                {t('hooks.answered')}
              </Text>
              <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                {d.response_body}
              </Code>
            </>
          )}
        </Stack>
      </Collapse>
    </Stack>
  )
}
