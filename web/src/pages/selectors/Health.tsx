import { Alert, Button, Group, Progress, Select, Stack, Switch, Text, Title } from '@mantine/core'
import { IconArrowBackUp, IconSchool } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { NoArticle } from '../../components/NoArticle'
import { noteText } from '../../i18n/message'
import { useAct } from '../../lib/act'
import { showData } from '../../lib/optimistic'
import { useAtLeast } from '../../lib/session'
import { zoneNames } from '../../lib/time'

/** The share of recent pages on which each field was found, and actions. */
export function Health({ reading: r }: { reading: Schemas['Extraction'] }) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const params = { path: { domain: r.domain } }
  const changed = (now: Schemas['Extraction']) => {
    client.setQueryData(['reading', r.domain], now)
    void client.invalidateQueries({ queryKey: ['selectors', r.domain] })
  }
  const back = useAct({
    send: () => unwrap(api.POST('/api/v1/domains/{domain}/selectors/roll-back', { params })),
    accepted: (now) => {
      changed(now)
    },
    done: (now) =>
      now.selector_version > 0 ? t('selectors.inUse', { version: now.selector_version }) : t('selectors.without'),
  })
  const learn = useAct({
    send: () => unwrap(api.POST('/api/v1/domains/{domain}/selectors/learn', { params })),
    accepted: (now) => {
      changed(now)
    },
    done: () => t('selectors.learning'),
  })
  const set = useAct({
    send: (body: Schemas['ExtractionUpdate']) =>
      unwrap(api.PATCH('/api/v1/domains/{domain}/extraction', { params, body })),
    show: (body) =>
      showData<Schemas['Extraction']>(client, ['reading', r.domain], (was) => ({ ...was, ...body }) as typeof was),
    done: () => t('act.saved', { name: r.domain }),
    failed: () => t('act.refused', { name: r.domain }),
    accepted: changed,
  })
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent' })
  const number = new Intl.NumberFormat(i18n.language)
  const health = Object.entries(r.health).sort(([a], [b]) => a.localeCompare(b))
  const reasons = Object.entries(r.no_article_reasons).sort(([, a], [, b]) => b - a)
  return (
    <Stack
      gap="sm"
      className="dl-card"
      p="md"
      component="section"
      aria-label={t('selectors.health')}
      data-in-use={r.selector_version}
    >
      <Title order={2} size="h4">
        {t('selectors.health')}
      </Title>
      <Text size="sm">
        {r.selector_version > 0
          ? t(health.length > 0 ? 'selectors.using' : 'selectors.usingNew', { version: r.selector_version })
          : t('selectors.usingNone')}
      </Text>
      {health.map(([field, value]) => (
        <div key={field} data-health={field}>
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm">{t(`fields.${field as 'title'}`, { defaultValue: field })}</Text>
            <Text size="sm" className="dl-numbers">
              {share.format(value)}
            </Text>
          </Group>
          <Progress
            value={value * 100}
            size="sm"
            color={value >= 0.8 ? 'green' : value >= 0.5 ? 'orange' : 'red'}
            aria-label={t(`fields.${field as 'title'}`, { defaultValue: field })}
          />
        </div>
      ))}
      <Text size="sm" c="dimmed">
        {t('selectors.read', {
          pages: number.format(r.pages),
          articles: number.format(r.articles),
          others: number.format(r.non_articles),
          failed: number.format(r.failed),
        })}
      </Text>
      {reasons.length > 0 && (
        <Text size="sm" c="dimmed" data-no-article-reasons>
          {t('noArticle.counts')}{' '}
          {reasons
            .map(
              ([reason, n]) =>
                `${t(`noArticle.reasons.${reason as 'too_short'}`, { defaultValue: reason })}: ${number.format(n)}`,
            )
            .join(' · ')}
        </Text>
      )}
      {r.last_error && (
        <Text size="sm" c="var(--mantine-color-error)" className="dl-text">
          <NoArticle reason={r.last_error_reason} detail={r.last_error} />{' '}
          {r.last_error_at && <Ago at={r.last_error_at} />}
        </Text>
      )}
      {r.requested_action && (
        <Alert color="cyan" role="status" data-wish={r.requested_action}>
          {t(`selectors.requested.${r.requested_action}`)} {r.action_reason && noteText(r.action_reason)}
        </Alert>
      )}
      {may && (
        <>
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              leftSection={<IconArrowBackUp size={16} aria-hidden />}
              disabled={r.selector_version === 0}
              loading={back.isPending}
              onClick={() => back.mutate()}
            >
              {t('selectors.rollBack')}
            </Button>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconSchool size={16} aria-hidden />}
              loading={learn.isPending}
              onClick={() => learn.mutate()}
            >
              {t('selectors.learn')}
            </Button>
          </Group>
          <Switch
            label={t('selectors.learningOn')}
            checked={r.learning_enabled}
            disabled={set.isPending}
            onChange={(e) => set.mutate({ learning_enabled: e.currentTarget.checked })}
          />
          <Select
            label={t('selectors.zone')}
            searchable
            allowDeselect={false}
            maxDropdownHeight={280}
            nothingFoundMessage={t('state.nothing')}
            data={[{ value: '', label: t('selectors.zoneOwn') }, ...zoneNames()]}
            value={r.time_zone}
            onChange={(zone) => zone !== null && set.mutate({ time_zone: zone })}
          />
        </>
      )}
    </Stack>
  )
}
