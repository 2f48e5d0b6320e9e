import { ActionIcon, Alert, Badge, Button, Group, Menu, Modal, Progress, SegmentedControl, Stack, Table, Tabs, Text, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDots, IconNews, IconPlayerPause, IconPlayerPlay, IconPlus, IconRefresh, IconTrash } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, once, type Schemas, take } from '../../api/client'
import { Ago } from '../../components/Ago'
import { Page } from '../../components/Page'
import { Empty, Failed, Waiting } from '../../components/states'
import { problemText, sayDone, sayFailed } from '../../lib/say'
import { useAtLeast } from '../../lib/session'
import { relative } from '../../lib/time'

/** Where the crawl begins, and how the sites are doing. */
export function NewsPage() {
  const { t } = useTranslation()
  const may = useAtLeast('editor')
  const [opened, { open, close }] = useDisclosure()
  return (
    <Page
      title={t('news.title')}
      lead={t('news.lead')}
      actions={
        may && (
          <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={open}>
            {t('news.add')}
          </Button>
        )
      }
    >
      <Tabs defaultValue="seeds" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="seeds">{t('news.seeds')}</Tabs.Tab>
          <Tabs.Tab value="domains">{t('news.domains')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="seeds">
          <Seeds />
        </Tabs.Panel>
        <Tabs.Panel value="domains">
          <Domains />
        </Tabs.Panel>
      </Tabs>
      {opened && <AddSeeds close={close} />}
    </Page>
  )
}

/** Crawls tell nothing to the stream of events; their figures are read again this often. */
const every = 3000

function Seeds() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const list = useInfiniteQuery({
    queryKey: ['seeds'],
    refetchInterval: every,
    initialPageParam: '',
    queryFn: ({ pageParam }) => take(api.GET('/api/v1/seeds', { params: { query: { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) } } })),
    getNextPageParam: (page) => page.next_cursor,
  })
  const changed = () => void client.invalidateQueries({ queryKey: ['seeds'] })
  const set = useMutation({
    mutationFn: ({ id, status }: { id: string; status: Schemas['SeedStatus'] }) => take(api.PATCH('/api/v1/seeds/{id}', { params: { path: { id } }, body: { status } })),
    onError: sayFailed,
    onSettled: changed,
  })
  const remove = useMutation({ mutationFn: (id: string) => take(api.DELETE('/api/v1/seeds/{id}', { params: { path: { id } } })), onError: sayFailed, onSettled: changed })
  const seeds = list.data?.pages.flatMap((p) => p.seeds) ?? []
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <Waiting />
  if (seeds.length === 0) return <Empty icon={IconNews} title={t('news.none')} text={t('news.noneText')} />
  return (
    <>
      <Table.ScrollContainer minWidth={640} className="dl-card" scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table verticalSpacing="sm" aria-label={t('news.seeds')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('news.address')}</Table.Th>
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
                  {s.problem && (
                    <Text size="xs" c="var(--mantine-color-error)" className="dl-text">
                      {s.problem}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>
                  <Badge variant="light" tt="none" color={s.status === 'paused' ? 'gray' : 'indigo'}>
                    {s.status === 'paused' ? t('news.paused') : t(`news.kinds.${s.kind}`)}
                  </Badge>
                </Table.Td>
                <Table.Td>
                  <Text size="sm" data-crawled={s.last_crawl !== undefined}>
                    {s.last_crawl ? <Ago at={s.last_crawl} /> : t('news.never')}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Text size="sm">{s.status === 'paused' ? '–' : <Ago at={s.next_crawl} />}</Text>
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
                          <Menu.Item leftSection={<IconPlayerPause size={16} aria-hidden />} onClick={() => set.mutate({ id: s.id, status: 'paused' })}>
                            {t('news.pause')}
                          </Menu.Item>
                        ) : (
                          <Menu.Item leftSection={<IconPlayerPlay size={16} aria-hidden />} onClick={() => set.mutate({ id: s.id, status: 'active' })}>
                            {t('news.resume')}
                          </Menu.Item>
                        )}
                        <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => remove.mutate(s.id)}>
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

const colors = { idle: 'gray', crawling: 'cyan', blocked: 'red', paused: 'gray' } as const

function Domains() {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const list = useInfiniteQuery({
    queryKey: ['domains'],
    refetchInterval: every,
    initialPageParam: '',
    queryFn: ({ pageParam }) => take(api.GET('/api/v1/domains', { params: { query: { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) } } })),
    getNextPageParam: (page) => page.next_cursor,
  })
  const act = useMutation({
    mutationFn: ({ domain, what }: { domain: string; what: 'run' | 'pause' | 'resume' }) => {
      const params = { path: { domain } }
      if (what === 'run') return take(api.POST('/api/v1/domains/{domain}/run', { params }))
      if (what === 'pause') return take(api.POST('/api/v1/domains/{domain}/pause', { params }))
      return take(api.POST('/api/v1/domains/{domain}/resume', { params }))
    },
    onError: sayFailed,
    onSettled: () => void client.invalidateQueries({ queryKey: ['domains'] }),
  })
  const domains = list.data?.pages.flatMap((p) => p.domains) ?? []
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <Waiting />
  if (domains.length === 0) return <Empty icon={IconNews} title={t('news.noDomains')} text={t('news.noDomainsText')} />
  const number = new Intl.NumberFormat(i18n.language)
  return (
    <Stack gap="sm">
      {domains.map((d) => {
        const asked = Math.max(1, d.fetched)
        return (
          <Stack key={d.domain} gap={6} className="dl-card" p="md" component="article" aria-label={d.domain} data-domain={d.domain}>
            <Group justify="space-between" gap="xs">
              <Group gap="xs">
                <Text fw={600}>{d.domain}</Text>
                <Badge variant="light" tt="none" color={colors[d.status]}>
                  {t(`news.status.${d.status}`)}
                </Badge>
              </Group>
              {may && (
                <Group gap="xs">
                  <Button size="xs" variant="default" leftSection={<IconRefresh size={16} aria-hidden />} onClick={() => act.mutate({ domain: d.domain, what: 'run' })}>
                    {t('news.run')}
                  </Button>
                  <Button size="xs" variant="subtle" onClick={() => act.mutate({ domain: d.domain, what: d.status === 'paused' ? 'resume' : 'pause' })}>
                    {t(d.status === 'paused' ? 'news.resume' : 'news.pause')}
                  </Button>
                </Group>
              )}
            </Group>
            <Text size="sm" c="dimmed">
              {t('news.figures', { fetched: number.format(d.fetched), stored: number.format(d.stored), unchanged: number.format(d.unchanged), failed: number.format(d.failed), ms: number.format(Math.round(d.response_ms)) })}
              {d.last_crawl && (
                <>
                  {` · ${t('news.lastCrawl')} `}
                  <Ago at={d.last_crawl} />
                </>
              )}
            </Text>
            <Progress.Root size="sm" aria-hidden>
              <Progress.Section value={(d.stored / asked) * 100} color="green" />
              <Progress.Section value={(d.unchanged / asked) * 100} color="gray" />
              <Progress.Section value={(d.failed / asked) * 100} color="red" />
            </Progress.Root>
            {d.status === 'blocked' && d.not_before && (
              <Alert color="red" p="xs">
                <Text size="sm">{t('news.blocked', { when: relative(d.not_before, i18n.language) })}</Text>
              </Alert>
            )}
          </Stack>
        )
      })}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('more')}
        </Button>
      )}
    </Stack>
  )
}

function AddSeeds({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [way, setWay] = useState<'one' | 'many'>('one')
  const [url, setURL] = useState('')
  const [title, setTitle] = useState('')
  const [text, setText] = useState('')
  const add = useMutation({
    mutationFn: async (): Promise<Schemas['SeedImportResult'] | undefined> => {
      if (way === 'many') return take(api.POST('/api/v1/seeds/import', { body: { format: text.trimStart().startsWith('<') ? 'opml' : 'list', text } }))
      await take(api.POST('/api/v1/seeds', { params: { header: once() }, body: { url, ...(title ? { title } : {}) } }))
      return undefined
    },
    onSuccess: (result) => {
      void client.invalidateQueries({ queryKey: ['seeds'] })
      void client.invalidateQueries({ queryKey: ['domains'] })
      if (result && result.refused > 0) return
      sayDone(result ? t('news.imported', { created: result.created, known: result.known }) : t('news.added'))
      close()
    },
  })
  return (
    <Modal opened onClose={close} title={t('news.add')} closeButtonProps={{ 'aria-label': t('close') }}>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          add.mutate()
        }}
      >
        <Stack>
          <SegmentedControl aria-label={t('news.way')} value={way} onChange={(v) => setWay(v as typeof way)} data={(['one', 'many'] as const).map((value) => ({ value, label: t(`news.ways.${value}`) }))} />
          {way === 'one' ? (
            <>
              <TextInput label={t('news.address')} description={t('news.addressText')} type="url" required placeholder="https://news.example/" value={url} onChange={(e) => setURL(e.currentTarget.value)} data-autofocus />
              <TextInput label={t('news.name')} maxLength={300} value={title} onChange={(e) => setTitle(e.currentTarget.value)} />
            </>
          ) : (
            <Textarea label={t('news.list')} description={t('news.listText')} required autosize minRows={6} maxRows={14} value={text} onChange={(e) => setText(e.currentTarget.value)} />
          )}
          {add.error && (
            <Alert color="red" role="alert">
              {problemText(add.error)}
            </Alert>
          )}
          {add.data && add.data.refused > 0 && (
            <Alert color="yellow" role="alert" title={t('news.refused', { count: add.data.refused })}>
              {add.data.lines.filter((l) => l.outcome === 'refused').slice(0, 10).map((l) => (
                <Text key={l.line} size="sm" className="dl-text">
                  {l.line}: {l.url} – {l.reason}
                </Text>
              ))}
            </Alert>
          )}
          <Button type="submit" loading={add.isPending}>
            {t('news.add')}
          </Button>
        </Stack>
      </form>
    </Modal>
  )
}
