import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, ApiError, type Schemas, unwrap } from '../../api/client'
import { useConfirm } from '../../components/Confirm'
import { Progress } from '../../components/Progress'
import { Failed } from '../../components/states'
import { Time } from '../../components/Time'
import { useAct } from '../../lib/act'
import { useAtLeast } from '../../lib/session'

type Rebuild = Schemas['SearchRebuild']

const isActive = (r: Rebuild | undefined) => r?.status === 'pending' || r?.status === 'running'

/** The last rebuild of the search index; owners start and cancel it. Nothing if the crawler is off. */
export function SearchIndex() {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const owner = useAtLeast('owner')
  const [dialog, ask] = useConfirm()
  const queryKey = ['search-rebuild']
  const state = useQuery({
    queryKey,
    queryFn: () => unwrap(api.GET('/api/v1/search/rebuild')),
    refetchInterval: (q) => (isActive(q.state.data) ? 1000 : 15_000),
    retry: false,
  })
  const accepted = (r: Rebuild) => client.setQueryData(queryKey, r)
  const start = useAct<void, Rebuild>({
    send: () => unwrap(api.POST('/api/v1/search/rebuild')),
    done: () => undefined,
    accepted,
  })
  const cancel = useAct<void, Rebuild>({
    send: () => unwrap(api.DELETE('/api/v1/search/rebuild')),
    done: () => undefined,
    accepted,
  })
  if (state.error instanceof ApiError && state.error.code === 'crawl_off') return null
  const r = state.data
  const count = (n: number) => new Intl.NumberFormat(i18n.language).format(n)
  const { done = 0, total } = r?.progress ?? {}
  return (
    <Stack gap="xs" component="section" aria-label={t('searchIndex.title')}>
      {dialog}
      <Title order={2} size="h4">
        {t('searchIndex.title')}
      </Title>
      {state.error ? (
        <Failed error={state.error} retry={() => void state.refetch()} />
      ) : (
        <Stack className="dl-card" p="md" gap="sm" data-rebuild={r?.status}>
          {r && isActive(r) ? (
            <Progress
              label={t(r.status === 'pending' ? 'searchIndex.pending' : 'searchIndex.running')}
              done={done}
              total={total}
              at={state.dataUpdatedAt}
              cancel={owner ? () => cancel.mutate() : undefined}
              canceling={cancel.isPending}
            />
          ) : (
            <Group justify="space-between">
              <Text size="sm">
                {r?.status === 'done' && t('searchIndex.done', { count: done, articles: count(done) })}
                {r?.status === 'none' && t('searchIndex.none')}
                {r?.status === 'canceled' && t('searchIndex.canceled')}
                {r?.finished_at && (
                  <>
                    {' · '}
                    <Time at={r.finished_at} look="short" />
                  </>
                )}
              </Text>
              {owner && (
                <Button
                  variant="default"
                  loading={start.isPending}
                  onClick={() =>
                    ask({
                      title: t('searchIndex.startTitle'),
                      text: t('searchIndex.startText'),
                      action: t('searchIndex.start'),
                      run: () => start.mutate(),
                    })
                  }
                >
                  {t('searchIndex.start')}
                </Button>
              )}
            </Group>
          )}
          {r?.status === 'canceled' && (
            <Alert color="gray" role="status">
              {total
                ? t('searchIndex.canceledText', { done: count(done), total: count(total) })
                : t('searchIndex.canceledEarly')}
            </Alert>
          )}
        </Stack>
      )}
    </Stack>
  )
}
