import { Badge, Button, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBell, IconTopologyStar3 } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { LinkAnchor } from '../../components/links'
import { NewsFrame } from '../../components/NewsFrame'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { useAtLeast } from '../../lib/session'
import { Preferences } from './Preferences'

const route = getRouteApi('/news/stories')

/** What all sources report: stories by time or by how fast they spread. */
export function StoriesPage() {
  const { t } = useTranslation()
  const may = useAtLeast('editor')
  const search = route.useSearch()
  const navigate = useNavigate()
  const [editing, edit] = useDisclosure()
  const change = (update: Partial<typeof search>) =>
    void navigate({ to: '/news/stories', search: { ...search, ...update }, replace: true })
  const order = search.order ?? 'latest'
  const list = useInfiniteQuery({
    queryKey: ['stories', search],
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/stories', {
          params: {
            query: {
              order,
              coverage: search.coverage,
              language: search.lang,
              min_owners: search.owners,
              cursor: pageParam,
            },
          },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: 30_000,
  })
  const stories = list.data?.pages.flatMap((p) => p.stories) ?? []
  return (
    <NewsFrame
      title={t('stories.title')}
      lead={t('stories.lead')}
      actions={
        may && (
          <Button variant="default" leftSection={<IconBell size={18} aria-hidden />} onClick={edit.open}>
            {t('stories.alerts')}
          </Button>
        )
      }
    >
      <Group gap="sm" align="flex-end">
        <SegmentedControl
          aria-label={t('stories.order')}
          value={order}
          onChange={(v) => change({ order: v === 'rising' ? 'rising' : undefined })}
          data={[
            { value: 'latest', label: t('stories.latest') },
            { value: 'rising', label: t('stories.rising') },
          ]}
        />
        <Select
          label={t('stories.coverage')}
          size="xs"
          clearable
          placeholder={t('stories.any')}
          value={search.coverage ?? null}
          onChange={(v) => change({ coverage: v === 'covered' || v === 'uncovered' ? v : undefined })}
          data={[
            { value: 'covered', label: t('stories.covered') },
            { value: 'uncovered', label: t('stories.uncovered') },
          ]}
        />
        <Select
          label={t('stories.minOwners')}
          size="xs"
          value={String(search.owners ?? 1)}
          allowDeselect={false}
          onChange={(v) => change({ owners: v && v !== '1' ? Number(v) : undefined })}
          data={['1', '2', '3', '5', '10']}
        />
        <Select
          label={t('stories.language')}
          size="xs"
          clearable
          placeholder={t('stories.any')}
          value={search.lang ?? null}
          onChange={(v) => change({ lang: v ?? undefined })}
          data={[
            { value: 'vi', label: 'Tiếng Việt' },
            { value: 'en', label: 'English' },
          ]}
        />
      </Group>
      {list.error ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <WaitingRows />
      ) : stories.length === 0 ? (
        <Empty
          icon={IconTopologyStar3}
          title={t('stories.none')}
          text={t(order === 'rising' ? 'stories.noneRising' : 'stories.noneText')}
        />
      ) : (
        <Stack
          gap="sm"
          component="ul"
          style={{ listStyle: 'none', padding: 0, margin: 0 }}
          aria-label={t('stories.title')}
        >
          {stories.map((s) => (
            <li key={s.id}>
              <StoryCard story={s} coverage={search.coverage} />
            </li>
          ))}
        </Stack>
      )}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('stories.more')}
        </Button>
      )}
      {editing && <Preferences close={edit.close} />}
    </NewsFrame>
  )
}

function StoryCard({ story: s, coverage }: { story: Schemas['Story']; coverage?: Coverage }) {
  return (
    <Stack gap={6} className="dl-card" p="md" data-story={s.id}>
      <LinkAnchor to="/news/stories/$id" params={{ id: s.id }} fw={600} className="dl-text" lang={s.language}>
        {s.headline.title}
      </LinkAnchor>
      <StoryFacts story={s} isKnown={coverage !== undefined} />
    </Stack>
  )
}

type Coverage = 'covered' | 'uncovered'

/**
 * Sources, copies and times of a story: only what distinguishes it. One source is the least a story has, a story whose
 * sources are all new is recent, and of most stories the newsroom has no article; a filter for coverage says it of all.
 */
export function StoryFacts({ story: s, isKnown = false }: { story: Schemas['Story']; isKnown?: boolean }) {
  const { t, i18n } = useTranslation()
  const number = (n: number) => new Intl.NumberFormat(i18n.language).format(n)
  return (
    <Group gap="xs">
      {s.owners > 1 && (
        <Badge variant="light" tt="none" data-owners={s.owners}>
          {t('stories.owners', { count: s.owners, number: number(s.owners) })}
        </Badge>
      )}
      {s.copies > 0 && (
        <Badge variant="light" color="gray" tt="none">
          {t('stories.copies', { count: s.copies, number: number(s.copies) })}
        </Badge>
      )}
      {s.new_owners > 0 && s.new_owners < s.owners && (
        <Badge variant="light" color="orange" tt="none">
          {t('stories.newOwners', { count: s.new_owners, number: number(s.new_owners) })}
        </Badge>
      )}
      {s.own_articles > 0 && !isKnown && (
        <Badge variant="light" color="green" tt="none">
          {t('stories.covered')}
        </Badge>
      )}
      {s.alert === 'sent' && (
        <Badge variant="light" color="red" tt="none">
          {t('stories.alerted')}
        </Badge>
      )}
      <Text size="sm" c="dimmed">
        {t('stories.firstSeen')} <Ago at={s.first_seen_at} />
        {Date.parse(s.last_at) - Date.parse(s.first_seen_at) >= 60_000 && (
          <>
            {' · '}
            {t('stories.last')} <Ago at={s.last_at} />
          </>
        )}
      </Text>
    </Group>
  )
}
