import { Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { LinkAnchor } from '../../components/links'
import { Failed } from '../../components/states'
import { Time } from '../../components/Time'

interface Other {
  id: string
  title: string
  domain: string
  at: string
}

function List({ title, none, others }: { title: string; none: string; others: Other[] }) {
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {others.length === 0 && (
        <Text size="sm" c="dimmed">
          {none}
        </Text>
      )}
      {others.map((o) => (
        <div key={o.id} data-other={o.id}>
          <LinkAnchor to="/news/articles/$id" params={{ id: o.id }} size="sm" fw={500} className="dl-text">
            {o.title}
          </LinkAnchor>
          <Text size="xs" c="dimmed">
            {o.domain} · <Time at={o.at} look="short" />
          </Text>
        </div>
      ))}
    </Stack>
  )
}

/** Near-duplicates on all sites. */
export function AlsoReported({ id }: { id: string }) {
  const { t } = useTranslation()
  const also = useQuery({
    queryKey: ['article', id, 'also'],
    queryFn: () => unwrap(api.GET('/api/v1/articles/{id}/similar', { params: { path: { id }, query: { limit: 20 } } })),
  })
  if (also.error) return <Failed error={also.error} retry={() => void also.refetch()} />
  return (
    <List
      title={t('article.also')}
      none={t('article.alsoNone')}
      others={(also.data?.articles ?? []).map(({ article: a }) => ({
        id: a.id,
        title: a.title,
        domain: a.domain,
        at: a.dated_at,
      }))}
    />
  )
}

/** Related articles: search results for the title, without the article's own story. */
export function Similar({ article: a }: { article: Schemas['Article'] }) {
  const { t } = useTranslation()
  const words = a.title.replace(/["*-]/g, ' ').slice(0, 500)
  const similar = useQuery({
    queryKey: ['article', a.id, 'similar', words],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/search', { params: { query: { q: words, limit: 20 } }, signal })),
  })
  if (similar.error) return <Failed error={similar.error} retry={() => void similar.refetch()} />
  const others = (similar.data?.hits ?? []).filter((h) => h.id !== a.id && h.group_id !== a.group_id).slice(0, 6)
  return (
    <List
      title={t('article.similar')}
      none={t('article.similarNone')}
      others={others.map((h) => ({ id: h.id, title: h.title, domain: h.domain, at: h.published_at }))}
    />
  )
}
