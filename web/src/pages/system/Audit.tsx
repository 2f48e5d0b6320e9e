import { Button, Group, MultiSelect, Select, Table, Text } from '@mantine/core'
import { IconListSearch } from '@tabler/icons-react'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import dayjs from 'dayjs'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../../api/client'
import { DayField } from '../../components/DayField'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { AuditedObject } from './AuditedObject'
import { Time } from '../../components/Time'
import { useMe } from '../../lib/session'
import { toInstant } from '../../lib/time'

const unnamed = ['dateline', 'operator'] as const

/** The audit log, newest first, filtered by user, action and time. */
export function Audit() {
  const { t } = useTranslation()
  const me = useMe()
  const [actor, setActor] = useState<string | null>(null)
  const [actions, setActions] = useState<string[]>([])
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const members = useQuery({
    queryKey: ['members'],
    queryFn: async () => (await unwrap(api.GET('/api/v1/members', { params: { query: { limit: 200 } } }))).members,
  })
  const zone = me.workspace.time_zone
  const filter = {
    ...(actor ? { actor } : {}),
    ...(actions.length > 0 ? { action: actions } : {}),
    ...(from ? { from: toInstant(`${from}T00:00`, zone).toISOString() } : {}),
    ...(to ? { to: toInstant(`${dayjs(to).add(1, 'day').format('YYYY-MM-DD')}T00:00`, zone).toISOString() } : {}),
  }
  const list = useInfiniteQuery({
    queryKey: ['audit', filter],
    placeholderData: keepPreviousData,
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/audit', {
          params: { query: { limit: 100, ...filter, ...(pageParam ? { cursor: pageParam } : {}) } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  const filters = (
    <Group gap="sm" align="flex-end" mb="md" role="search" aria-label={t('system.audit')}>
      <Select
        label={t('system.actor')}
        clearable
        searchable
        placeholder={t('calendar.all')}
        w={{ base: '100%', xs: 200 }}
        value={actor}
        onChange={setActor}
        data={[
          ...unnamed.map((value) => ({ value, label: t(`auditActor.${value}`) })),
          ...(members.data ?? []).map((m) => ({ value: m.id, label: m.name })),
        ]}
      />
      <MultiSelect
        label={t('system.action')}
        clearable
        searchable
        placeholder={actions.length === 0 ? t('calendar.all') : ''}
        w={{ base: '100%', xs: 320 }}
        value={actions}
        onChange={setActions}
        data={Object.entries(t('audit', { returnObjects: true })).map(([key, label]) => ({
          value: key.replace(/^(notification_channel|[^_]+)_/, '$1.'),
          label,
        }))}
      />
      <DayField label={t('auditFrom')} value={from} max={to} w={175} onChange={setFrom} />
      <DayField label={t('auditTo')} value={to} min={from} w={175} onChange={setTo} />
    </Group>
  )
  const entries = list.data?.pages.flatMap((p) => p.entries) ?? []
  return (
    <>
      {filters}
      {list.error ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <WaitingRows rows={8} height={44} />
      ) : entries.length === 0 ? (
        <Empty icon={IconListSearch} title={t('media.nothing')} text={t('auditNothing')} />
      ) : (
        <Table.ScrollContainer
          minWidth={560}
          className="dl-card dl-stack"
          scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
        >
          <Table verticalSpacing={6} aria-label={t('system.audit')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('readers.time')}</Table.Th>
                <Table.Th>{t('system.actor')}</Table.Th>
                <Table.Th>{t('system.action')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {entries.map((e) => (
                <Table.Tr key={e.id} data-action={e.action}>
                  <Table.Td>
                    <Text size="sm">
                      <Time at={e.at} look="short" />
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <Text size="sm">
                      {e.actor.name ??
                        (e.actor.type === 'user' ? t('auditActor.former') : t(`auditActor.${e.actor.type}`))}
                      {e.actor.token_name ? ` (${e.actor.token_name})` : ''}
                    </Text>
                  </Table.Td>
                  <Table.Td data-wide>
                    <Text size="sm" className="dl-text">
                      {t(`audit.${e.action.replace('.', '_') as 'login_succeeded'}`, { defaultValue: e.action })}{' '}
                      <AuditedObject object={e.object} />
                    </Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {list.hasNextPage && (
        <Button variant="default" mt="md" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('more')}
        </Button>
      )}
    </>
  )
}
