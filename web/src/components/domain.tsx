import { Badge, Button, Group } from '@mantine/core'
import { IconHandStop, IconPlayerPause, IconPlayerPlay, IconRefresh, IconSpider, IconZzz } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../api/client'
import { useAct } from '../lib/act'
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

/** The actions on a site's crawl. */
export function DomainControls({ domain: d }: { domain: Pick<Schemas['Domain'], 'domain' | 'status'> }) {
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
