import { ActionIcon, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconArrowRight, IconCircle, IconCircleCheckFilled, IconX } from '@tabler/icons-react'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../api/client'
import { accountsQuery, sitesQuery } from '../lib/queries'
import { useAtLeast, useMe } from '../lib/session'
import { DemoControls, useIsDemo } from './Demo'
import { LinkAnchor } from './links'

const count = (status?: ('scheduled' | 'publishing' | 'posted')[]) => async () =>
  (await unwrap(api.GET('/api/v1/posts', { params: { query: { limit: 1, ...(status ? { status } : {}) } } }))).posts
    .length

/** The first steps in a workspace. In the demo it says what the demo is, and how to remove it. */
export function Onboarding() {
  const { t } = useTranslation()
  return useIsDemo() ? (
    <Stack className="dl-card" p="sm" mb="md" component="section" aria-label={t('demo.title')}>
      <DemoControls />
    </Stack>
  ) : (
    <Steps />
  )
}

/** The steps. Each is ticked by itself as soon as it is done, however that came about. */
function Steps() {
  const { t } = useTranslation()
  const me = useMe()
  const may = useAtLeast('editor')
  const [closed, setClosed] = useLocalStorage({
    key: `dateline-onboarding-${me.workspace.id}`,
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  const enabled = may && !closed
  const accounts = useQuery({ ...accountsQuery, enabled }).data
  const sites = useQuery({ ...sitesQuery, enabled }).data
  const [written, scheduled, seeds] = useQueries({
    queries: [
      { queryKey: ['posts', 'any'], enabled, queryFn: count() },
      { queryKey: ['posts', 'any', 'scheduled'], enabled, queryFn: count(['scheduled', 'publishing', 'posted']) },
      {
        queryKey: ['seeds', 'any'],
        enabled,
        retry: false,
        queryFn: async () => (await unwrap(api.GET('/api/v1/seeds', { params: { query: { limit: 1 } } }))).seeds.length,
      },
    ],
  })
  if (!enabled || !accounts || !sites || written.isPending || scheduled.isPending || seeds.isPending) return null
  const steps = [
    { id: 'account', to: '/accounts', done: accounts.some((a) => a.status === 'connected') },
    { id: 'write', to: '/compose', done: (written.data ?? 0) > 0 },
    { id: 'schedule', to: '/compose', done: (scheduled.data ?? 0) > 0 },
    { id: 'site', to: '/readers', done: sites.length > 0 },
    // Without the crawler there are no sources.
    ...(seeds.error ? [] : [{ id: 'source', to: '/news/seeds', done: (seeds.data ?? 0) > 0 } as const]),
  ] as const
  const done = steps.filter((s) => s.done).length
  if (done === steps.length) return null
  const next = steps.find((s) => !s.done)
  return (
    <Stack gap="xs" className="dl-card" p="md" mb="md" component="section" aria-label={t('onboarding.title')}>
      <Group justify="space-between" wrap="nowrap">
        <Title order={2} size="h5">
          {t('onboarding.title')}
        </Title>
        <ActionIcon variant="subtle" color="gray" aria-label={t('onboarding.close')} onClick={() => setClosed(true)}>
          <IconX size={18} aria-hidden />
        </ActionIcon>
      </Group>
      <Progress
        value={(100 * done) / steps.length}
        size="sm"
        aria-label={t('onboarding.progress', { done, of: steps.length })}
      />
      <ol className="dl-steps">
        {steps.map((s) => (
          <li key={s.id} data-step={s.id} data-done={s.done}>
            {s.done ? (
              <IconCircleCheckFilled
                size={20}
                color="var(--mantine-color-green-7)"
                role="img"
                aria-label={t('onboarding.done')}
              />
            ) : (
              <IconCircle size={20} color="var(--mantine-color-dimmed)" role="img" aria-label={t('onboarding.open')} />
            )}
            <div>
              {s.done ? (
                <Text size="sm" c="dimmed">
                  {t(`onboarding.${s.id}`)}
                </Text>
              ) : (
                <LinkAnchor to={s.to} size="sm" fw={600}>
                  <Group gap={4} component="span">
                    {t(`onboarding.${s.id}`)}
                    {s === next && <IconArrowRight size={16} aria-hidden />}
                  </Group>
                </LinkAnchor>
              )}
              {s === next && (
                <Text size="sm" c="dimmed">
                  {t(`onboarding.${s.id}Text`)}
                </Text>
              )}
            </div>
          </li>
        ))}
      </ol>
      <DemoControls />
    </Stack>
  )
}
