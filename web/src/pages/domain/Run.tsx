import './domain.css'
import { Group, Progress, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'

const colors = { stored: 'green', pending: 'gray', failed: 'red', dead: 'orange', excluded: 'grape' } as const

/** The progress of the crawl, and what happened since the page was opened. */
export function Run({ domain: d }: { domain: Schemas['Domain'] }) {
  const { t, i18n } = useTranslation()
  const [first] = useState(d)
  const number = new Intl.NumberFormat(i18n.language)
  const queue = d.queue ?? []
  const all = queue.reduce((n, q) => n + q.urls, 0)
  const due = queue.reduce((n, q) => n + q.due, 0)
  const leased = queue.reduce((n, q) => n + q.leased, 0)
  const done = all - queue.filter((q) => q.state === 'pending').reduce((n, q) => n + q.urls, 0)
  const share = all > 0 ? Math.round((done / all) * 100) : 0
  return (
    <Stack
      gap="xs"
      className="dl-card"
      p="md"
      component="section"
      aria-label={t('domain.run')}
      data-run={d.status}
      data-fetched={d.fetched}
    >
      <Title order={2} size="h4">
        {t('domain.run')}
      </Title>
      {all === 0 ? (
        <Text size="sm" c="dimmed">
          {t('domain.nothingKnown')}
        </Text>
      ) : (
        <>
          <Text size="sm">{t('domain.progress', { done: number.format(done), all: number.format(all), share })}</Text>
          <Progress.Root size="lg" aria-hidden>
            {queue.map((q) => (
              <Progress.Section
                key={q.state}
                value={(q.urls / all) * 100}
                color={colors[q.state]}
                striped={q.state === 'pending' && d.status === 'crawling'}
                animated={q.state === 'pending' && d.status === 'crawling'}
              />
            ))}
          </Progress.Root>
          <Group gap="md">
            {queue
              .filter((q) => q.urls > 0)
              .map((q) => (
                <Group key={q.state} gap={6} wrap="nowrap">
                  <span
                    className="dl-dot"
                    style={{ background: `var(--mantine-color-${colors[q.state]}-6)` }}
                    aria-hidden
                  />
                  <Text size="sm" data-queue={q.state}>
                    {t(`domain.states.${q.state}`)}{' '}
                    <Text span fw={600} className="dl-numbers">
                      {number.format(q.urls)}
                    </Text>
                  </Text>
                </Group>
              ))}
          </Group>
        </>
      )}
      <Text size="sm" c="dimmed" role="status">
        {t('domain.now', { due: number.format(due), leased: number.format(leased) })}
        {d.fetched > first.fetched &&
          ` ${t('domain.since', { fetched: number.format(d.fetched - first.fetched), stored: number.format(d.stored - first.stored) })}`}
      </Text>
    </Stack>
  )
}
