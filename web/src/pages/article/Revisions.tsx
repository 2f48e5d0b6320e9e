import { Anchor, Badge, Button, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { base } from '../../boot'
import { Failed, Waiting } from '../../components/states'
import { Time } from '../../components/Time'
import { type Block, compareTexts, compareWords, type Piece } from '../../lib/diff'
import { useAtLeast } from '../../lib/session'

type Revision = Schemas['ArticleRevision']

/** The versions of an article: what changed, and when. */
export function Revisions({ article: a }: { article: Schemas['Article'] }) {
  const { t } = useTranslation()
  const editor = useAtLeast('editor')
  const [shown, setShown] = useState<number>()
  const list = useInfiniteQuery({
    queryKey: ['article', a.id, 'revisions', a.version],
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/articles/{id}/revisions', {
          params: { path: { id: a.id }, query: { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <Waiting />
  const versions = list.data.pages.flatMap((p) => p.revisions)
  return (
    <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('article.versions')}>
      <Title order={2} size="h4">
        {t('article.versions')}
      </Title>
      {versions.length <= 1 && (
        <Text size="sm" c="dimmed">
          {t('article.unchanged')}
        </Text>
      )}
      {versions.map((v) => (
        <Stack key={v.version} gap="xs" data-version={v.version}>
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {t('article.version', { version: v.version })}
            </Text>
            <Text size="sm" c="dimmed" span>
              <Time at={v.seen_at} />
            </Text>
            {v.changed.map((field) => (
              <Badge key={field} variant="light" color="gray" tt="none">
                {t(`fields.${field as 'title'}`, { defaultValue: field })}
              </Badge>
            ))}
            {v.version > 1 && (
              <Button
                size="compact-xs"
                variant="subtle"
                aria-expanded={shown === v.version}
                onClick={() => setShown(shown === v.version ? undefined : v.version)}
              >
                {t('article.whatChanged')}
              </Button>
            )}
            {editor && !a.reservations.noarchive && (
              <Anchor href={`${base}/api/v1/articles/${a.id}/raw?version=${v.version}`} download size="xs">
                {t('article.raw')}
              </Anchor>
            )}
          </Group>
          {shown === v.version && <Change id={a.id} version={v.version} />}
        </Stack>
      ))}
      {list.hasNextPage && (
        <Button variant="default" size="xs" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('more')}
        </Button>
      )}
    </Stack>
  )
}

const revisionQuery = (id: string, version: number) => ({
  queryKey: ['article', id, 'revision', version],
  staleTime: Number.POSITIVE_INFINITY, // a version never changes
  queryFn: () => unwrap(api.GET('/api/v1/articles/{id}/revisions/{version}', { params: { path: { id, version } } })),
})

/** The changes of a version from the previous one. */
function Change({ id, version }: { id: string; version: number }) {
  const after = useQuery(revisionQuery(id, version))
  const before = useQuery(revisionQuery(id, version - 1))
  const failed = after.error ?? before.error
  if (failed) return <Failed error={failed} retry={() => void Promise.all([after.refetch(), before.refetch()])} />
  if (!after.data || !before.data) return <Waiting />
  return <Difference before={before.data} after={after.data} />
}

function Difference({ before, after }: { before: Revision; after: Revision }) {
  const { t } = useTranslation()
  const texts = (v: Revision): Record<string, string> => ({
    title: v.title,
    lead: v.lead ?? '',
    authors: (v.authors ?? []).join(', '),
    section: v.section ?? '',
    tags: (v.tags ?? []).join(', '),
    image: v.image_url ?? '',
    published: v.published_at ?? '',
    updated: v.modified_at ?? '',
  })
  const [old, fresh] = [texts(before), texts(after)]
  const fields = Object.keys(fresh).filter((f) => old[f] !== fresh[f])
  const blocks = compareTexts(before.text ?? '', after.text ?? '')
  return (
    <Stack gap="xs" data-difference>
      {fields.length > 0 && (
        <Table fz="sm" withTableBorder>
          <Table.Tbody>
            {fields.map((f) => (
              <Table.Tr key={f}>
                <Table.Th w={120}>{t(`fields.${f as 'title'}`)}</Table.Th>
                <Table.Td className="dl-text">
                  <Pieces pieces={compareWords(old[f] ?? '', fresh[f] ?? '')} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {shortened(blocks).map((b, i) =>
        typeof b === 'number' ? (
          <Text key={i} size="sm" c="dimmed">
            {t('article.same', { count: b })}
          </Text>
        ) : (
          <Text key={i} size="sm" className="dl-text">
            <Pieces pieces={b.pieces} />
          </Text>
        ),
      )}
    </Stack>
  )
}

/** Unchanged paragraphs are shown as a number. */
function shortened(blocks: Block[]): (Block | number)[] {
  if (blocks.every((b) => b.kind === 'same')) return []
  const out: (Block | number)[] = []
  for (const b of blocks) {
    const last = out.at(-1)
    if (b.kind !== 'same') out.push(b)
    else if (typeof last === 'number') out[out.length - 1] = last + 1
    else out.push(1)
  }
  return out
}

function Pieces({ pieces }: { pieces: Piece[] }) {
  return pieces.map((p, i) => {
    if (p.kind === 'added')
      return (
        <ins key={i} className="dl-added">
          {p.text}
        </ins>
      )
    if (p.kind === 'removed')
      return (
        <del key={i} className="dl-removed">
          {p.text}
        </del>
      )
    return <span key={i}>{p.text}</span>
  })
}
