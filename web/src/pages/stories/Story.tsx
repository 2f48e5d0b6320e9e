import { Button, Grid, Group, Stack, Text } from '@mantine/core'
import { IconBellOff, IconPencilPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { LinkAnchor } from '../../components/links'
import { NewsFrame } from '../../components/NewsFrame'
import { Failed, Waiting } from '../../components/states'
import { useAct } from '../../lib/act'
import { showData } from '../../lib/optimistic'
import { useAtLeast } from '../../lib/session'
import { StoryFacts } from '.'
import { Coverage, Corrections, Events, Related } from './Sections'
import { StoryTimeline } from './StoryTimeline'

const route = getRouteApi('/news/stories/$id')

/** One story: who reported what and when, and the coverage of the workspace. */
export function StoryPage() {
  const { id } = route.useParams()
  const { t } = useTranslation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const mayDraft = useAtLeast('author')
  const mayEdit = useAtLeast('editor')
  const story = useQuery({
    queryKey: ['story', id],
    queryFn: () => unwrap(api.GET('/api/v1/stories/{id}', { params: { path: { id } } })),
    refetchInterval: 30_000,
  })
  const current = story.data?.id
  useEffect(() => {
    if (current && current !== id) void navigate({ to: '/news/stories/$id', params: { id: current }, replace: true })
  }, [current, id, navigate])
  const draft = useAct({
    send: () => unwrap(api.POST('/api/v1/stories/{id}/draft', { params: { path: { id } } })),
    accepted: (d) => void navigate({ to: '/posts/$id', params: { id: d.post_id } }),
    done: () => undefined,
  })
  const mute = useAct({
    send: () => unwrap(api.POST('/api/v1/stories/{id}/mute', { params: { path: { id } } })),
    settled: () => void client.invalidateQueries({ queryKey: ['story', id] }),
    done: () => t('stories.muted'),
    show: () => showData<Schemas['StoryPage']>(client, ['story', id], (was) => ({ ...was, alert: 'muted' })),
  })
  if (story.error) return <Failed error={story.error} retry={() => void story.refetch()} />
  if (!story.data) return <Waiting />
  const s = story.data
  return (
    <NewsFrame
      title={s.headline.title}
      lead={<StoryFacts story={s} />}
      actions={
        <Group gap="xs">
          {mayEdit && s.own_articles === 0 && s.alert !== 'muted' && (
            <Button
              variant="default"
              leftSection={<IconBellOff size={18} aria-hidden />}
              loading={mute.isPending}
              onClick={() => mute.mutate()}
            >
              {t('stories.mute')}
            </Button>
          )}
          {mayDraft && (
            <Button
              leftSection={<IconPencilPlus size={18} aria-hidden />}
              loading={draft.isPending}
              onClick={() => draft.mutate()}
            >
              {t('stories.draft')}
            </Button>
          )}
        </Group>
      }
    >
      {s.alert_post_id && (
        <Text size="sm">
          {t('stories.alertDraft')}{' '}
          <LinkAnchor to="/posts/$id" params={{ id: s.alert_post_id }}>
            {t('stories.openDraft')}
          </LinkAnchor>
        </Text>
      )}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <StoryTimeline story={s} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack>
            <Coverage story={s} />
            <Corrections story={s} />
            <Related story={s} />
            <Events story={s} />
          </Stack>
        </Grid.Col>
      </Grid>
    </NewsFrame>
  )
}
