import { Button, SegmentedControl, Stack } from '@mantine/core'
import { IconPencilPlus, IconRepeat } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { LinkButton } from '../../components/links'
import { Page } from '../../components/Page'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { useAtLeast } from '../../lib/session'
import { SeriesCard } from './SeriesCard'

const route = getRouteApi('/series')
const kinds = ['active', 'paused', 'ended'] as const

/** The series with their next occurrences. */
export function SeriesPage() {
  const { t } = useTranslation()
  const may = useAtLeast('author')
  const navigate = useNavigate()
  const { status } = route.useSearch()
  const list = useInfiniteQuery({
    queryKey: ['series', 'list', status],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/series', {
          params: {
            query: {
              limit: 50,
              ...(status ? { status: [status as Schemas['SeriesStatus']] } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  const all = list.data?.pages.flatMap((p) => p.series) ?? []
  const write = may && (
    <LinkButton to="/compose" search={{ repeat: true }} leftSection={<IconPencilPlus size={18} aria-hidden />}>
      {t('series.new')}
    </LinkButton>
  )
  return (
    <Page title={t('series.title')} lead={t('series.lead')} actions={all.length > 0 ? write : undefined}>
      <Stack>
        <SegmentedControl
          aria-label={t('series.show')}
          style={{ alignSelf: 'flex-start' }}
          value={status ?? 'all'}
          onChange={(v) => void navigate({ to: '/series', search: v === 'all' ? {} : { status: v }, replace: true })}
          data={[
            { value: 'all', label: t('calendar.all') },
            ...kinds.map((value) => ({ value, label: t(`series.status.${value}`) })),
          ]}
        />
        {list.error ? (
          <Failed error={list.error} retry={() => void list.refetch()} />
        ) : !list.data ? (
          <WaitingRows height={150} />
        ) : all.length === 0 ? (
          <Empty icon={IconRepeat} title={t(status ? 'series.noneLike' : 'series.none')} text={t('series.noneText')}>
            {write}
          </Empty>
        ) : (
          all.map((s) => <SeriesCard key={s.id} series={s} />)
        )}
        {list.hasNextPage && (
          <Button
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
            style={{ alignSelf: 'center' }}
          >
            {t('more')}
          </Button>
        )}
      </Stack>
    </Page>
  )
}
