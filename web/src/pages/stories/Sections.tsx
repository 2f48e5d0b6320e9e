import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { LinkAnchor } from '../../components/links'
import { Time } from '../../components/Time'
import { useAct } from '../../lib/act'
import { useAtLeast } from '../../lib/session'

type Props = { story: Schemas['StoryPage'] }

function Section({ title, none, children }: { title: string; none?: string; children?: ReactNode }) {
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {none && (
        <Text size="sm" c="dimmed">
          {none}
        </Text>
      )}
      {children}
    </Stack>
  )
}

/** The workspace's own articles, posts and readers. */
export function Coverage({ story: s }: Props) {
  const { t, i18n } = useTranslation()
  const own = s.entries.filter((e) => e.own)
  const number = (n: number) => new Intl.NumberFormat(i18n.language).format(n)
  return (
    <Section
      title={t('stories.ourCoverage')}
      none={own.length === 0 && s.posts.length === 0 ? t('stories.noCoverage') : undefined}
    >
      {own.map((e) => (
        <LinkAnchor
          key={e.article_id}
          to="/news/articles/$id"
          params={{ id: e.article_id }}
          size="sm"
          className="dl-text"
          lang={s.language}
        >
          {e.title}
        </LinkAnchor>
      ))}
      {own.length > 0 && (
        <Text size="sm" data-views={s.readers.views}>
          {t('stories.readers', { views: number(s.readers.views), visitors: number(s.readers.visitors) })}
        </Text>
      )}
      {s.posts.length > 0 && (
        <Title order={3} size="h5">
          {t('stories.ourPosts')}
        </Title>
      )}
      {s.posts.map((p) => (
        <LinkAnchor
          key={p.id}
          to="/posts/$id"
          params={{ id: p.id }}
          size="sm"
          className="dl-text"
          lineClamp={2}
          data-post={p.id}
        >
          {p.content}
        </LinkAnchor>
      ))}
    </Section>
  )
}

export function Corrections({ story: s }: Props) {
  const { t } = useTranslation()
  if (s.corrections.length === 0) return null
  return (
    <Section title={t('stories.corrections')}>
      {s.corrections.map((c) => (
        <div key={`${c.article_id} ${c.version}`}>
          <LinkAnchor
            to="/news/articles/$id"
            params={{ id: c.article_id }}
            size="sm"
            className="dl-text"
            lang={s.language}
          >
            {c.title}
          </LinkAnchor>
          {c.title !== c.previous_title && (
            <Text size="sm" td="line-through" c="dimmed" className="dl-text" lang={s.language}>
              {c.previous_title}
            </Text>
          )}
          <Text size="xs" c="dimmed">
            {s.entries.find((e) => e.article_id === c.article_id)?.domain} · <Time at={c.seen_at} look="short" />
          </Text>
        </div>
      ))}
    </Section>
  )
}

export function Related({ story: s }: Props) {
  const { t } = useTranslation()
  if (s.related.length === 0) return null
  return (
    <Section title={t('stories.related')}>
      {s.related.map((r) => (
        <div key={r.id}>
          <LinkAnchor to="/news/stories/$id" params={{ id: r.id }} size="sm" className="dl-text" lang={s.language}>
            {r.title}
          </LinkAnchor>
          <Text size="xs" c="dimmed">
            {t(r.relation === 'earlier' ? 'stories.earlier' : 'stories.later')} · <Time at={r.last_at} look="short" />
          </Text>
        </div>
      ))}
    </Section>
  )
}

/** Merges, splits and other changes, which editors can undo. */
export function Events({ story: s }: Props) {
  const { t } = useTranslation()
  const may = useAtLeast('editor')
  const client = useQueryClient()
  const undo = useAct({
    send: (id: string) => unwrap(api.POST('/api/v1/story-events/{id}/undo', { params: { path: { id } } })),
    settled: () =>
      void client.invalidateQueries({ predicate: (q) => q.queryKey[0] === 'story' || q.queryKey[0] === 'stories' }),
    done: () => t('stories.undone'),
  })
  if (s.events.length === 0) return null
  return (
    <Section title={t('stories.history')}>
      {s.events.map((e) => (
        <Group key={e.id} gap="xs" justify="space-between" data-event={e.kind}>
          <Text size="sm" td={e.undone_at ? 'line-through' : undefined}>
            {t(`stories.events.${e.kind}`)} · <Time at={e.at} look="short" />
          </Text>
          {may && e.can_undo && (
            <Button size="compact-xs" variant="default" loading={undo.isPending} onClick={() => undo.mutate(e.id)}>
              {t('stories.undo')}
            </Button>
          )}
        </Group>
      ))}
    </Section>
  )
}
