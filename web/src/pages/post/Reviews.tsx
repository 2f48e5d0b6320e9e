import { ActionIcon, Badge, Button, Group, NumberInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconLink, IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Post, type Schemas, unwrap } from '../../api/client'
import { Copy } from '../../components/Copy'
import { Time } from '../../components/Time'
import { NotLoaded } from '../../components/states'
import { useAct } from '../../lib/act'
import { useAtLeast } from '../../lib/session'
import { forget, useFormState } from '../../lib/formState'

type Link = Schemas['ReviewLink']

const colors: Record<Link['state'], string> = {
  open: 'indigo',
  approved: 'green',
  rejected: 'pink',
  revoked: 'gray',
  expired: 'gray',
  outdated: 'orange',
}

/** Links by which people without an account approve this version of the post. */
export function Reviews({ post }: { post: Post }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const pending = post.status === 'draft' && post.approval?.state === 'pending'
  const key = ['post', post.id, 'review-links']
  const params = { path: { id: post.id } }
  const stored = useQuery({
    queryKey: key,
    queryFn: async () => (await unwrap(api.GET('/api/v1/posts/{id}/review-links', { params }))).review_links,
    enabled: pending || post.approval !== undefined,
  })
  const links = stored.data ?? []
  const form = `review ${post.id}`
  const [name, setName] = useFormState(form, 'name', '')
  const [days, setDays] = useFormState<number>(form, 'days', 7)
  const settled = () => void client.invalidateQueries({ queryKey: key })
  const make = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/posts/{id}/review-links', { params, body: { name: name.trim(), expires_in_days: days } }),
      ),
    accepted: () => forget(form),
    settled,
    done: () => undefined,
  })
  // Not shown as revoked before it is.
  const revoke = useAct({
    send: (id: string) => unwrap(api.DELETE('/api/v1/review-links/{id}', { params: { path: { id } } })),
    accepted: (_, id) => id === make.data?.id && make.reset(),
    settled,
    done: () => t('act.revoked'),
  })
  const offers = pending && may
  if (!offers && links.length === 0 && !stored.error) return null
  return (
    <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('review.title')}>
      <div>
        <Title order={2} size="h4">
          {t('review.title')}
        </Title>
        <Text size="sm" c="dimmed">
          {t('review.lead')}
        </Text>
      </div>
      {offers && (
        <Group align="flex-end" gap="xs">
          <TextInput
            label={t('review.name')}
            placeholder={t('review.namePlaceholder')}
            maxLength={80}
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
            flex={1}
            miw={160}
          />
          <NumberInput
            label={t('review.days')}
            min={1}
            max={60}
            w={120}
            value={days}
            onChange={(v) => setDays(Number(v) || 7)}
          />
          <Button
            leftSection={<IconLink size={16} aria-hidden />}
            disabled={name.trim() === ''}
            loading={make.isPending}
            onClick={() => make.mutate()}
          >
            {t('review.create')}
          </Button>
        </Group>
      )}
      {make.data?.url && (
        <Group gap="xs" wrap="nowrap" align="flex-end" role="status">
          <TextInput
            label={t('review.once', { name: make.data.name })}
            readOnly
            value={make.data.url}
            onFocus={(e) => e.currentTarget.select()}
            flex={1}
            data-review-url
          />
          <Copy value={make.data.url} size="sm" />
        </Group>
      )}
      <NotLoaded what={t('review.title')} queries={[stored]} />
      {links.length > 0 && (
        <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
          {links.map((l) => (
            <Group key={l.id} component="li" gap="xs" wrap="nowrap" data-review={l.state}>
              <Badge variant="light" color={colors[l.state]} tt="none" style={{ flexShrink: 0 }}>
                {t(`review.states.${l.state}`)}
              </Badge>
              <Text size="sm" fw={600} truncate>
                {l.name}
              </Text>
              <Text size="sm" c="dimmed" truncate>
                {l.comment ||
                  (l.state === 'open' ? (
                    <>
                      {t('review.until')} <Time at={l.expires_at} look="short" />
                    </>
                  ) : l.decided_at ? (
                    <Time at={l.decided_at} look="short" />
                  ) : null)}
              </Text>
              {may && l.state === 'open' && (
                <ActionIcon
                  loading={revoke.isPending && revoke.variables === l.id}
                  variant="subtle"
                  color="red"
                  ml="auto"
                  aria-label={t('review.revoke', { name: l.name })}
                  onClick={() => revoke.mutate(l.id)}
                >
                  <IconTrash size={18} aria-hidden />
                </ActionIcon>
              )}
            </Group>
          ))}
        </Stack>
      )}
    </Stack>
  )
}
