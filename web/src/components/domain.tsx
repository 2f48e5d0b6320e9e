import { Badge, Button, Group, Text } from '@mantine/core'
import { IconHandStop, IconPlayerPause, IconPlayerPlay, IconRefresh, IconSpider, IconZzz } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../api/client'
import { useAct } from '../lib/act'
import { notifySuccess } from '../lib/notify'
import { showChange, showData } from '../lib/optimistic'
import { useAtLeast } from '../lib/session'

type Status = Schemas['Domain']['status']

const looks = {
  idle: { color: 'gray', icon: IconZzz },
  crawling: { color: 'cyan', icon: IconSpider },
  blocked: { color: 'red', icon: IconHandStop },
  paused: { color: 'orange', icon: IconPlayerPause },
} as const

/** The state of a site's crawl, with an icon and a word. */
export function DomainStatus({ status }: { status: Status }) {
  const { t } = useTranslation()
  const { color, icon: Icon } = looks[status]
  return (
    <Badge
      variant="light"
      tt="none"
      color={color}
      leftSection={<Icon size={14} aria-hidden />}
      data-domain-status={status}
    >
      {t(`news.status.${status}`)}
    </Badge>
  )
}

const acts = { run: 'crawling', pause: 'paused', resume: 'resumed' } as const

/** Numbers with the colors of a bar's parts. */
export function Legend({ of, ...mark }: { of: [label: string, n: number, color?: string][] }) {
  const { i18n } = useTranslation()
  const number = new Intl.NumberFormat(i18n.language)
  return (
    <Group gap="md" {...mark}>
      {of.map(([label, n, color]) => (
        <Group key={label} gap={6} wrap="nowrap">
          {color && <span className="dl-dot" style={{ background: `var(--mantine-color-${color}-6)` }} aria-hidden />}
          <Text size="sm">
            {label}{' '}
            <Text span fw={600} className="dl-numbers">
              {number.format(n)}
            </Text>
          </Text>
        </Group>
      ))}
    </Group>
  )
}

/** The actions on a site's crawl. */
export function DomainControls({ domain: d }: { domain: Schemas['Domain'] }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const act = useAct({
    send: (what: 'run' | 'pause' | 'resume') => {
      const params = { path: { domain: d.domain } }
      if (what === 'run') return unwrap(api.POST('/api/v1/domains/{domain}/run', { params }))
      if (what === 'pause') return unwrap(api.POST('/api/v1/domains/{domain}/pause', { params }))
      return unwrap(api.POST('/api/v1/domains/{domain}/resume', { params }))
    },
    show: (what) => {
      if (what === 'run') setBefore(d)
      const status = what === 'pause' ? 'paused' : what === 'resume' ? 'idle' : 'crawling'
      const restore = [
        showData<Schemas['Domain']>(client, ['domain', d.domain], (was) => ({ ...was, status })),
        showChange<Schemas['Domain']>(client, ['domains'], (was) =>
          was.domain === d.domain ? { ...was, status } : was,
        ),
      ]
      return () => {
        for (const one of restore) one()
      }
    },
    done: (_, what) => t(`act.${acts[what]}`, { name: d.domain }),
    undo: (_, what) => (what === 'run' ? undefined : what === 'pause' ? 'resume' : 'pause'),
    failed: () => t('act.refused', { name: d.domain }),
    about: ['domains'],
    accepted: (now) => client.setQueryData(['domain', d.domain], now),
  })
  // A crawl that was started here ends with what it found.
  const [before, setBefore] = useState<Schemas['Domain']>()
  useEffect(() => {
    if (!before || d.status === 'crawling' || d.fetched === before.fetched) return
    setBefore(undefined)
    notifySuccess(
      t('domain.found', {
        domain: d.domain,
        stored: d.stored - before.stored,
        unchanged: d.unchanged - before.unchanged,
        failed: d.failed - before.failed,
      }),
    )
  }, [before, d, t])
  if (!may) return null
  const paused = d.status === 'paused'
  return (
    <Group gap="xs">
      <Button
        size="xs"
        variant="default"
        leftSection={<IconRefresh size={16} aria-hidden />}
        disabled={paused}
        loading={act.isPending && act.variables === 'run'}
        onClick={() => act.mutate('run')}
        aria-label={`${t('news.run')}: ${d.domain}`}
      >
        {t('news.run')}
      </Button>
      <Button
        size="xs"
        variant="default"
        leftSection={paused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />}
        loading={act.isPending && act.variables !== 'run'}
        onClick={() => act.mutate(paused ? 'resume' : 'pause')}
        aria-label={`${t(paused ? 'news.resume' : 'news.pause')}: ${d.domain}`}
      >
        {t(paused ? 'news.resume' : 'news.pause')}
      </Button>
    </Group>
  )
}
