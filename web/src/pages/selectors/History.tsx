import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { noteText } from '../../i18n/message'
import { useAct } from '../../lib/act'
import { useAtLeast } from '../../lib/session'

type Version = Schemas['Selectors']

const colors = { candidate: 'gray', active: 'green', retired: 'gray', rolled_back: 'orange' } as const

/** All versions: who created them and why, and why they were replaced. */
export function History({
  domain,
  versions,
  load,
}: {
  domain: string
  versions: Version[]
  load: (v: Version) => void
}) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const use = useAct({
    send: (version: number) =>
      unwrap(
        api.POST('/api/v1/domains/{domain}/selectors/{version}/activate', { params: { path: { domain, version } } }),
      ),
    settled: () => {
      void client.invalidateQueries({ queryKey: ['selectors', domain] })
      void client.invalidateQueries({ queryKey: ['reading', domain] })
    },
    done: (made) => t('selectors.inUse', { version: made.version }),
  })
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent' })
  return (
    <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('selectors.history')}>
      <Title order={2} size="h4">
        {t('selectors.history')}
      </Title>
      {versions.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('selectors.historyNone')}
        </Text>
      )}
      {versions.map((v) => (
        <Stack key={v.version} gap={4} data-selectors={v.version}>
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {t('article.version', { version: v.version })}
            </Text>
            <Badge variant="light" tt="none" color={colors[v.state]} data-state={v.state}>
              {t(`selectors.states.${v.state}`)}
            </Badge>
            <Text size="sm" c="dimmed" span>
              {t(`selectors.by.${v.created_by}`)}, <Ago at={v.created_at} />
            </Text>
          </Group>
          <Text size="sm" className="dl-text">
            {noteText(v.reason)}
          </Text>
          {v.end_reason && (
            <Text size="sm" c="dimmed" className="dl-text">
              {t('selectors.ended')} {noteText(v.end_reason)}
            </Text>
          )}
          {Object.keys(v.scores).length > 0 && (
            <Text size="xs" c="dimmed" className="dl-numbers">
              {Object.entries(v.scores)
                .map(([f, s]) => `${t(`fields.${f as 'title'}`, { defaultValue: f })} ${share.format(s)}`)
                .join(' · ')}
            </Text>
          )}
          {may && (
            <Group gap="xs">
              <Button
                size="compact-xs"
                variant="default"
                onClick={() => load(v)}
                aria-label={`${t('selectors.copy')}: ${t('article.version', { version: v.version })}`}
              >
                {t('selectors.copy')}
              </Button>
              {v.state !== 'active' && (
                <Button
                  size="compact-xs"
                  variant="default"
                  loading={use.isPending && use.variables === v.version}
                  onClick={() => use.mutate(v.version)}
                  aria-label={`${t('selectors.use')}: ${t('article.version', { version: v.version })}`}
                >
                  {t('selectors.use')}
                </Button>
              )}
            </Group>
          )}
        </Stack>
      ))}
    </Stack>
  )
}
