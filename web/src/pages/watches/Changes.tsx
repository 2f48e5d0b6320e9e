import { Button, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../../api/client'
import { Failed, Waiting } from '../../components/states'
import { Time } from '../../components/Time'

/** The changes of a watched page, the newest first, as a diff. */
export function Changes({ watch }: { watch: string }) {
  const { t } = useTranslation()
  const list = useInfiniteQuery({
    queryKey: ['watches', watch, 'changes'],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/watches/{id}/changes', {
          params: { path: { id: watch }, query: { limit: 20, ...(pageParam ? { cursor: pageParam } : {}) } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <Waiting />
  const all = list.data.pages.flatMap((p) => p.changes)
  if (all.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t('watches.noChanges')}
      </Text>
    )
  return (
    <Stack gap="sm">
      {all.map((c) => (
        <Stack key={c.id} gap={2} data-change={c.id}>
          <Text size="xs" c="dimmed">
            <Time at={c.found_at} />
          </Text>
          <Lines lines={c.removed} sign="−" name={t('watches.removed')} color="red" />
          <Lines lines={c.added} sign="+" name={t('watches.added')} color="green" />
        </Stack>
      ))}
      {list.hasNextPage && (
        <Button size="xs" variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('more')}
        </Button>
      )}
    </Stack>
  )
}

function Lines({ lines, sign, name, color }: { lines: string[]; sign: string; name: string; color: string }) {
  return lines.map((line, i) => (
    <Text
      key={i}
      size="sm"
      className="dl-text"
      ps="xs"
      style={{ borderInlineStart: `3px solid var(--mantine-color-${color}-6)` }}
    >
      <span aria-hidden>{sign} </span>
      <VisuallyHidden>{name}: </VisuallyHidden>
      {line}
    </Text>
  ))
}
