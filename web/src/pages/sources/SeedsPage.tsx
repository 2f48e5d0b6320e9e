import { ActionIcon, Badge, Button, Menu, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconPlus, IconSeedling, IconTrash } from '@tabler/icons-react'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { LinkAnchor } from '../../components/links'
import { NewsFrame } from '../../components/NewsFrame'
import { noteText } from '../../i18n/message'
import { Empty, Failed, Waiting } from '../../components/states'
import { crawlPace } from '../../lib/newsQueries'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'
import { useAtLeast } from '../../lib/session'
import { AddSeeds } from './AddSeeds'

/** The seeds with their schedules. */
export function SeedsPage() {
  const { t } = useTranslation()
  const may = useAtLeast('editor')
  const [opened, { open, close }] = useDisclosure()
  return (
    <NewsFrame
      title={t('news.seeds')}
      lead={t('news.seedsLead')}
      actions={
        may && (
          <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={open}>
            {t('news.add')}
          </Button>
        )
      }
    >
      <Seeds add={may ? open : undefined} />
      {opened && <AddSeeds close={close} />}
    </NewsFrame>
  )
}

type Seed = Schemas['Seed']

function Seeds({ add }: { add?: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const list = useInfiniteQuery({
    queryKey: ['seeds'],
    refetchInterval: crawlPace,
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/seeds', { params: { query: { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) } } }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  const nameOf = (s: Seed) => s.title || s.url
  const set = useAct({
    send: ({ seed: { id }, status }: { seed: Seed; status: Schemas['SeedStatus'] }) =>
      unwrap(api.PATCH('/api/v1/seeds/{id}', { params: { path: { id } }, body: { status } })),
    show: ({ seed, status }) =>
      showChange<Seed>(client, ['seeds'], (one) => (one.id === seed.id ? { ...one, status } : one)),
    done: (_, { seed, status }) => t(status === 'paused' ? 'act.paused' : 'act.resumed', { name: nameOf(seed) }),
    undo: (_, { seed, status }) => ({ seed, status: status === 'paused' ? ('active' as const) : ('paused' as const) }),
    failed: ({ seed }) => t('act.refused', { name: nameOf(seed) }),
    about: ['seeds'],
  })
  const remove = useAct({
    send: ({ id }: Seed) => unwrap(api.DELETE('/api/v1/seeds/{id}', { params: { path: { id } } })),
    show: ({ id }) => showChange<Seed>(client, ['seeds'], (one) => (one.id === id ? undefined : one)),
    done: (_, seed) => t('act.deleted', { name: nameOf(seed) }),
    failed: (seed) => t('act.refused', { name: nameOf(seed) }),
    about: ['seeds'],
  })
  const seeds = list.data?.pages.flatMap((p) => p.seeds) ?? []
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <Waiting />
  if (seeds.length === 0)
    return (
      <Empty icon={IconSeedling} title={t('news.none')} text={t('news.noneText')} guide="how-to/add-a-source">
        {add && (
          <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={add}>
            {t('news.add')}
          </Button>
        )}
      </Empty>
    )
  return (
    <>
      <Table.ScrollContainer
        minWidth={720}
        className="dl-card dl-stack"
        scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
      >
        <Table verticalSpacing="sm" aria-label={t('news.seeds')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('news.address')}</Table.Th>
              <Table.Th>{t('news.domain')}</Table.Th>
              <Table.Th>{t('news.kind')}</Table.Th>
              <Table.Th>{t('news.lastCrawl')}</Table.Th>
              <Table.Th>{t('news.next')}</Table.Th>
              <Table.Th>
                <Text span fz={0}>
                  {t('post.more')}
                </Text>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {seeds.map((s) => (
              <Table.Tr key={s.id} data-seed={s.url}>
                <Table.Td maw={360}>
                  <Text size="sm" fw={500} className="dl-text">
                    {s.title || s.url}
                  </Text>
                  {s.title && (
                    <Text size="xs" c="dimmed" className="dl-text">
                      {s.url}
                    </Text>
                  )}
                  {s.last_error && (
                    <Text size="xs" c="var(--mantine-color-error)" className="dl-text">
                      {noteText(s.last_error)}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td className="dl-text">
                  <LinkAnchor to="/news/domains/$domain" params={{ domain: s.domain }} size="sm">
                    {s.domain}
                  </LinkAnchor>
                </Table.Td>
                <Table.Td>
                  <Badge variant="light" tt="none" color={s.status === 'paused' ? 'gray' : 'indigo'}>
                    {s.status === 'paused' ? t('news.paused') : t(`news.kinds.${s.kind}`)}
                  </Badge>
                </Table.Td>
                <Table.Td data-label={t('news.lastCrawl')}>
                  <Text size="sm" data-crawled={s.last_crawl !== undefined}>
                    {s.last_crawl ? <Ago at={s.last_crawl} /> : t('news.never')}
                  </Text>
                </Table.Td>
                <Table.Td data-label={t('news.next')}>
                  <Text size="sm">
                    {s.status === 'paused' ? (
                      '–'
                    ) : Date.parse(s.next_crawl) <= Date.now() ? (
                      t('news.due')
                    ) : (
                      <Ago at={s.next_crawl} />
                    )}
                  </Text>
                </Table.Td>
                <Table.Td>
                  {may && (
                    <Menu position="bottom-end">
                      <Menu.Target>
                        <ActionIcon variant="subtle" color="gray" aria-label={t('news.more', { address: s.url })}>
                          <IconDots size={18} aria-hidden />
                        </ActionIcon>
                      </Menu.Target>
                      <Menu.Dropdown>
                        {s.status === 'active' ? (
                          <Menu.Item
                            leftSection={<IconPlayerPause size={16} aria-hidden />}
                            onClick={() => set.mutate({ seed: s, status: 'paused' })}
                          >
                            {t('news.pause')}
                          </Menu.Item>
                        ) : (
                          <Menu.Item
                            leftSection={<IconPlayerPlay size={16} aria-hidden />}
                            onClick={() => set.mutate({ seed: s, status: 'active' })}
                          >
                            {t('news.resume')}
                          </Menu.Item>
                        )}
                        <Menu.Item
                          color="red"
                          leftSection={<IconTrash size={16} aria-hidden />}
                          onClick={() => remove.mutate(s)}
                        >
                          {t('news.remove')}
                        </Menu.Item>
                      </Menu.Dropdown>
                    </Menu>
                  )}
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
