import { Button, Table, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, take } from '../../api/client'
import { Failed, Waiting } from '../../components/states'
import { Time } from '../../components/Time'

/** Who did what, the newest first. */
export function Audit() {
  const { t } = useTranslation()
  const list = useInfiniteQuery({
    queryKey: ['audit'],
    initialPageParam: '',
    queryFn: ({ pageParam }) => take(api.GET('/api/v1/audit', { params: { query: { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) } } })),
    getNextPageParam: (page) => page.next_cursor,
  })
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <Waiting />
  return (
    <>
      <Table.ScrollContainer minWidth={560} className="dl-card" scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table verticalSpacing={6} aria-label={t('system.audit')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('readers.time')}</Table.Th>
              <Table.Th>{t('system.who')}</Table.Th>
              <Table.Th>{t('system.what')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {list.data.pages.flatMap((p) => p.entries).map((e) => (
              <Table.Tr key={e.id}>
                <Table.Td>
                  <Text size="sm">
                    <Time at={e.at} look="exact" />
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Text size="sm">
                    {e.actor.name ?? e.actor.type}
                    {e.actor.token_name ? ` (${e.actor.token_name})` : ''}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Text size="sm">{t(`audit.${e.action.replace('.', '_') as 'login_succeeded'}`, { defaultValue: e.action })}</Text>
                  <Text size="xs" c="dimmed" className="dl-text">
                    {e.object.id}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {list.hasNextPage && (
        <Button variant="default" mt="md" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('more')}
        </Button>
      )}
    </>
  )
}
