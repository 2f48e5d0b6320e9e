import { Badge, Button, Checkbox, Group, Select, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { LinkAnchor } from '../../components/links'
import { Time } from '../../components/Time'
import { NotLoaded } from '../../components/states'
import { useAct } from '../../lib/act'
import { useAtLeast, useMe } from '../../lib/session'
import { toWall } from '../../lib/time'

type Story = Schemas['StoryPage']

/** The articles of a story in the order in which they were found. Editors choose some to move. */
export function StoryTimeline({ story: s }: { story: Story }) {
  const { t, i18n } = useTranslation()
  const number = (n: number) => new Intl.NumberFormat(i18n.language).format(n)
  const may = useAtLeast('editor')
  const me = useMe()
  const [picked, setPicked] = useState<string[]>([])
  const chosen = picked.filter((id) => s.entries.some((e) => e.article_id === id)) // the others have left the story
  return (
    <Stack
      gap="sm"
      className="dl-card"
      p={{ base: 'md', sm: 'lg' }}
      component="section"
      aria-label={t('stories.timeline')}
    >
      <Title order={2} size="h4">
        {t('stories.timeline')}
      </Title>
      <Stack gap="md" component="ol" style={{ listStyle: 'none', padding: 0, margin: 0 }}>
        {s.entries.map((e, i) => (
          <li key={e.article_id} data-entry={e.article_id}>
            <Group gap="sm" align="flex-start" wrap="nowrap">
              {may && (
                <Checkbox
                  aria-label={t('stories.choose', { title: e.title })}
                  checked={chosen.includes(e.article_id)}
                  onChange={() =>
                    setPicked((was) =>
                      was.includes(e.article_id) ? was.filter((x) => x !== e.article_id) : [...was, e.article_id],
                    )
                  }
                />
              )}
              <Stack gap={4} style={{ minWidth: 0 }}>
                <LinkAnchor
                  to="/news/articles/$id"
                  params={{ id: e.article_id }}
                  fw={500}
                  className="dl-text"
                  lang={s.language}
                >
                  {e.title}
                </LinkAnchor>
                <Group gap="xs">
                  <Text size="sm">{e.owner === e.domain ? e.domain : `${e.owner} (${e.domain})`}</Text>
                  {i === 0 && <Mark color="blue" text={t('stories.first')} />}
                  {e.own && <Mark color="green" text={t('stories.own')} />}
                  {e.near_duplicate && <Mark color="gray" text={t('stories.copy')} />}
                  {e.pinned && <Mark color="gray" text={t('stories.pinned')} />}
                </Group>
                <Text size="sm" c="dimmed">
                  {t('stories.seenAt')} <Time at={e.first_seen_at} look="short" />
                  {e.published_at && isOther(e.published_at, e.first_seen_at, e.date_only, me.workspace.time_zone) && (
                    <>
                      {' · '}
                      {t('stories.statedAt')} <Time at={e.published_at} look={e.date_only ? 'day' : 'short'} />
                    </>
                  )}
                </Text>
                {e.live_entries?.map((one) => (
                  <Text key={one.key} size="sm" className="dl-text" lang={s.language} data-live lineClamp={3}>
                    {one.at && <Time at={one.at} look="short" />} {one.title || one.text}
                  </Text>
                ))}
                {e.added.map((text) => (
                  <Text key={text} size="sm" className="dl-text" lang={s.language}>
                    + {text}
                  </Text>
                ))}
              </Stack>
            </Group>
          </li>
        ))}
      </Stack>
      {s.truncated && (
        <Text size="sm" c="dimmed" data-truncated>
          {t('stories.truncated', { shown: number(s.entries.length), all: number(s.articles) })}
        </Text>
      )}
      {may && chosen.length > 0 && <Changes story={s} chosen={chosen} done={() => setPicked([])} />}
    </Stack>
  )
}

/** Whether an article states another time than it was seen at: another day, or, with a time, more than an hour apart. */
export function isOther(stated: string, seen: string, isDateOnly: boolean | undefined, zone: string): boolean {
  if (!isDateOnly) return Math.abs(Date.parse(stated) - Date.parse(seen)) > 3_600_000
  return toWall(stated, zone).slice(0, 10) !== toWall(seen, zone).slice(0, 10)
}

function Mark({ color, text }: { color: string; text: string }) {
  return (
    <Badge variant="light" color={color} tt="none">
      {text}
    </Badge>
  )
}

type Change = { what: 'split' | 'headline' } | { what: 'move' | 'merge'; story: string }

/** What an editor does with chosen articles; the story's history undoes it. */
function Changes({ story: s, chosen, done }: { story: Story; chosen: string[]; done: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [other, setOther] = useState<string | null>(null)
  const near = useQuery({
    queryKey: ['stories', 'near', s.language],
    queryFn: () => unwrap(api.GET('/api/v1/stories', { params: { query: { limit: 100, language: s.language } } })),
  })
  const choices = (near.data?.stories ?? [])
    .filter((o) => o.id !== s.id)
    .map((o) => ({ value: o.id, label: o.headline.title }))
  const path = { id: s.id }
  const act = useAct({
    send: async (c: Change): Promise<void> => {
      const params = { path }
      const body = { article_ids: chosen }
      await (c.what === 'split'
        ? unwrap(api.POST('/api/v1/stories/{id}/split', { params, body }))
        : c.what === 'move'
          ? unwrap(api.POST('/api/v1/stories/{id}/move', { params, body: { ...body, story_id: c.story } }))
          : c.what === 'merge'
            ? unwrap(api.POST('/api/v1/stories/{id}/merge', { params, body: { story_id: c.story } }))
            : unwrap(api.PUT('/api/v1/stories/{id}/headline', { params, body: { article_id: chosen[0] } })))
    },
    done: () => t('stories.changed'),
    accepted: done,
    settled: () =>
      void client.invalidateQueries({ predicate: (q) => q.queryKey[0] === 'story' || q.queryKey[0] === 'stories' }),
  })
  const isBusy = (what: Change['what']) => act.isPending && act.variables.what === what
  return (
    <Group gap="xs" align="flex-end" role="group" aria-label={t('stories.change')}>
      {chosen.length < s.entries.length && (
        <Button size="xs" variant="default" loading={isBusy('split')} onClick={() => act.mutate({ what: 'split' })}>
          {t('stories.split')}
        </Button>
      )}
      {chosen.length === 1 && (
        <Button
          size="xs"
          variant="default"
          loading={isBusy('headline')}
          onClick={() => act.mutate({ what: 'headline' })}
        >
          {t('stories.useHeadline')}
        </Button>
      )}
      <NotLoaded what={t('stories.title')} queries={[near]} />
      <Select size="xs" label={t('stories.other')} searchable data={choices} value={other} onChange={setOther} />
      <Button
        size="xs"
        variant="default"
        disabled={!other}
        loading={isBusy('move')}
        onClick={() => other && act.mutate({ what: 'move', story: other })}
      >
        {t('stories.move')}
      </Button>
      <Button
        size="xs"
        variant="default"
        disabled={!other}
        loading={isBusy('merge')}
        onClick={() => other && act.mutate({ what: 'merge', story: other })}
      >
        {t('stories.merge')}
      </Button>
    </Group>
  )
}
