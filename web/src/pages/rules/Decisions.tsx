import { Badge, Button, Group, Stack, Switch, Text } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { LinkAnchor } from '../../components/links'
import { Failed, Waiting } from '../../components/states'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'
import { useAtLeast, useMe } from '../../lib/session'
import { formatTime } from '../../lib/time'

type Decision = Schemas['RuleDecision']

/** What a rule decided about articles, with reasons, the newest first. */
export function Decisions({ rule }: { rule: string }) {
  const { t } = useTranslation()
  const [attention, setAttention] = useState(false)
  const list = useInfiniteQuery({
    queryKey: ['rules', rule, 'decisions', attention],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/rule-decisions', {
          params: {
            query: {
              rule_id: rule,
              needs_attention: attention,
              limit: 20,
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  const all = list.data?.pages.flatMap((p) => p.decisions) ?? []
  return (
    <Stack gap="xs" pt="xs">
      <Switch
        label={t('rules.onlyAttention')}
        checked={attention}
        onChange={(e) => setAttention(e.currentTarget.checked)}
      />
      {list.error ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <Waiting />
      ) : all.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t(attention ? 'rules.noAttention' : 'rules.noDecisions')}
        </Text>
      ) : (
        all.map((d) => <One key={d.id} decision={d} />)
      )}
      {list.hasNextPage && (
        <Button size="xs" variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('more')}
        </Button>
      )}
    </Stack>
  )
}

function One({ decision: d }: { decision: Decision }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const resolve = useAct({
    send: () => unwrap(api.POST('/api/v1/rule-decisions/{id}/resolve', { params: { path: { id: d.id } } })),
    show: () => {
      const lists = client.getQueryCache().findAll({ queryKey: ['rules', d.rule_id] })
      const restore = lists.map(({ queryKey }) =>
        showChange<Decision>(client, queryKey, (one) => (one.id === d.id ? { ...one, attention: undefined } : one)),
      )
      return () => {
        for (const one of restore) one()
      }
    },
    done: () => t('rules.resolved', { name: d.title }),
    about: ['rules'],
  })
  return (
    <Stack gap={2} data-decision={d.article_id}>
      <Group gap="xs">
        <Outcome outcome={d.outcome} />
        <LinkAnchor to="/news/articles/$id" params={{ id: d.article_id }} size="sm" className="dl-text">
          {d.title}
        </LinkAnchor>
        {d.post_id && (
          <LinkAnchor to="/posts/$id" params={{ id: d.post_id }} size="sm">
            {t('rules.post')}
          </LinkAnchor>
        )}
      </Group>
      <Text size="xs" c="dimmed">
        <ReasonText reason={d.reason} params={d.params} /> · <Ago at={d.decided_at} />
      </Text>
      {d.attention && (
        <Group gap="xs">
          <Text size="sm" c="red">
            {t(`rules.attention.${d.attention}`)}
          </Text>
          {may && (
            <Button size="compact-xs" variant="default" loading={resolve.isPending} onClick={() => resolve.mutate()}>
              {t('rules.resolve')}
            </Button>
          )}
        </Group>
      )}
    </Stack>
  )
}

export function Outcome({ outcome }: { outcome: Schemas['RuleOutcome'] }) {
  const { t } = useTranslation()
  const colors = { created: 'green', reserved: 'green', skipped: 'gray', failed: 'red' } as const
  return (
    <Badge variant="light" color={colors[outcome]} tt="none">
      {t(`rules.outcomes.${outcome}`)}
    </Badge>
  )
}

/** Says why a decision has its outcome. */
export function ReasonText({ reason, params }: { reason: Schemas['RuleReason']; params: Record<string, unknown> }) {
  const { t, i18n } = useTranslation()
  const { time_zone } = useMe().workspace
  const values = Object.fromEntries(
    Object.entries(params).map(([key, value]) => [
      key,
      key === 'posted_at' ? formatTime(String(value), i18n.language, time_zone, 'short') : String(value),
    ]),
  )
  const name = reason === 'matched' && params.views ? 'matched_views' : reason
  return <>{t(`rules.reasons.${name}`, { ...values, defaultValue: reason })}</>
}
