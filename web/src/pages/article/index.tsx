import { Anchor, Badge, Button, Grid, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconExternalLink, IconPencilPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { LinkAnchor } from '../../components/links'
import { NewsFrame } from '../../components/NewsFrame'
import { Failed, Waiting } from '../../components/states'
import { Time } from '../../components/Time'
import { articleQuery } from '../../lib/newsQueries'
import { useAtLeast } from '../../lib/session'
import { Body } from './Body'
import { MakePost } from './MakePost'
import { AlsoReported, Similar } from './Others'
import { Revisions } from './Revisions'

const route = getRouteApi('/news/articles/$id')

type Article = Schemas['Article']

/** One article: its text, its versions, and near-duplicates. */
export function ArticlePage() {
  const { id } = route.useParams()
  const { t } = useTranslation()
  const may = useAtLeast('author')
  const [making, make] = useDisclosure()
  const article = useQuery(articleQuery(id))
  if (article.error) return <Failed error={article.error} retry={() => void article.refetch()} />
  if (!article.data) return <Waiting />
  const a = article.data
  return (
    <NewsFrame
      title={a.title}
      lead={<Facts article={a} />}
      actions={
        may && (
          <Button leftSection={<IconPencilPlus size={18} aria-hidden />} onClick={make.open}>
            {t('article.makePost')}
          </Button>
        )
      }
    >
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            <Stack
              gap="sm"
              className="dl-card"
              p={{ base: 'md', sm: 'lg' }}
              component="article"
              lang={a.language}
              aria-label={a.title}
              data-body
            >
              {a.lead && !a.text.includes(a.lead) && (
                <Text fw={600} size="lg" className="dl-text">
                  {a.lead}
                </Text>
              )}
              <Body html={a.html} text={a.text} />
              {a.tags.length > 0 && (
                <Group gap={6} aria-label={t('search.fields.tag')} role="group">
                  {a.tags.map((tag) => (
                    <LinkAnchor key={tag} to="/news" search={{ tag: [tag] }} size="sm">
                      #{tag}
                    </LinkAnchor>
                  ))}
                </Group>
              )}
            </Stack>
            <LiveEntries article={a} />
            <Revisions key={a.id} article={a} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack>
            <AlsoReported id={a.id} />
            <Similar article={a} />
            <Origins article={a} />
          </Stack>
        </Grid.Col>
      </Grid>
      {making && <MakePost article={a} close={make.close} />}
    </NewsFrame>
  )
}

/** The entries of a live blog, the newest first. */
function LiveEntries({ article: a }: { article: Article }) {
  const { t } = useTranslation()
  const [shown, show] = useState(20)
  const all = a.live_entries
  if (all.length === 0) return null
  const rest = all.length - shown
  return (
    <Stack gap="md" className="dl-card" p={{ base: 'md', sm: 'lg' }} component="section" aria-label={t('article.live')}>
      <Title order={2} size="h4">
        {t('article.live')}
      </Title>
      {all.slice(0, shown).map((e) => (
        <Stack key={e.key} gap={4} component="article" lang={a.language} data-live>
          {e.at && (
            <Text size="sm" c="dimmed">
              <Time at={e.at} />
            </Text>
          )}
          {e.title && (
            <Title order={3} size="h5" className="dl-text">
              {e.title}
            </Title>
          )}
          {e.text && <Body html={e.html} text={e.text} />}
        </Stack>
      ))}
      {rest > 0 && (
        <Button variant="default" onClick={() => show(shown + 50)}>
          {t('article.olderEntries', { count: rest })}
        </Button>
      )}
    </Stack>
  )
}

function Facts({ article: a }: { article: Article }) {
  const { t } = useTranslation()
  return (
    <Stack gap={4} mt={4}>
      <Group gap="xs">
        <Text size="sm" span>
          <Time at={a.dated_at} />
        </Text>
        {!a.published_at && (
          <Badge variant="light" color="gray" tt="none">
            {t('article.found')}
          </Badge>
        )}
        {a.authors.map((author) => (
          <LinkAnchor key={author} to="/news" search={{ author: [author] }} size="sm">
            {author}
          </LinkAnchor>
        ))}
        {a.section && (
          <LinkAnchor to="/news" search={{ section: [a.section] }} size="sm">
            {a.section}
          </LinkAnchor>
        )}
      </Group>
      <Group gap="xs">
        <LinkAnchor to="/news/domains/$domain" params={{ domain: a.domain }} size="sm">
          {a.site || a.domain}
        </LinkAnchor>
        <Anchor href={a.canonical_url} target="_blank" rel="noreferrer nofollow" size="sm">
          <Group gap={4} component="span" wrap="nowrap">
            <IconExternalLink size={16} aria-hidden />
            {t('article.source')}
          </Group>
        </Anchor>
        {a.image_url && (
          <Anchor href={a.image_url} target="_blank" rel="noreferrer nofollow" size="sm">
            {t('article.image')}
          </Anchor>
        )}
      </Group>
      <Permissions article={a} />
    </Stack>
  )
}

const reservations = ['tdm', 'noai', 'noindex', 'nosnippet', 'noarchive'] as const

/** Whether readers must pay, and what the publisher reserves. */
function Permissions({ article: a }: { article: Article }) {
  const { t } = useTranslation()
  const reserved = reservations.filter((r) => a.reservations[r])
  if (a.access === 'unknown' && reserved.length === 0) return null
  return (
    <Group gap="xs" role="group" aria-label={t('article.permissions')}>
      {a.access !== 'unknown' && (
        <Badge variant="light" color={a.access === 'free' ? 'green' : 'orange'} tt="none">
          {t(`article.access.${a.access}`)}
        </Badge>
      )}
      {reserved.map((r) => (
        <Badge key={r} variant="light" color="gray" tt="none">
          {t(`article.reserved.${r}`)}
        </Badge>
      ))}
      {a.reservations.tdm_policy && (
        <Anchor href={a.reservations.tdm_policy} target="_blank" rel="noreferrer nofollow" size="sm">
          {t('article.tdmPolicy')}
        </Anchor>
      )}
    </Group>
  )
}

/** The source of each field, with its confidence. */
function Origins({ article: a }: { article: Article }) {
  const { t, i18n } = useTranslation()
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent' })
  const origins = Object.entries(a.origins)
  if (origins.length === 0) return null
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={t('article.origins')}>
      <Title order={2} size="h4">
        {t('article.origins')}
      </Title>
      <Table withRowBorders={false} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('article.field')}</Table.Th>
            <Table.Th>{t('article.from')}</Table.Th>
            <Table.Th ta="end">{t('article.sure')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {origins.map(([field, o]) => (
            <Table.Tr key={field}>
              <Table.Td>{t(`fields.${field as 'title'}`, { defaultValue: field })}</Table.Td>
              <Table.Td>{t(`article.sources.${o.source as 'text'}`, { defaultValue: o.source })}</Table.Td>
              <Table.Td ta="end" className="dl-numbers">
                {share.format(o.confidence)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <LinkAnchor
        to="/news/domains/$domain/selectors"
        params={{ domain: a.domain }}
        search={{ article: a.id }}
        size="sm"
      >
        {t('article.toSelectors')}
      </LinkAnchor>
    </Stack>
  )
}
