import { Alert, Badge, Group, Stack, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { Time } from '../../components/Time'
import { Outcome, ReasonText } from './Decisions'

/** What a rule would have decided about the articles of the last seven days. */
export function Preview({ preview: p }: { preview: Schemas['RulePreview'] }) {
  const { t } = useTranslation()
  const posts = p.counts.matched ?? 0
  const top = useRef<HTMLDivElement>(null)
  // It appears below the buttons, often outside the visible part of the dialog.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each preview is shown.
  useEffect(() => {
    top.current?.scrollIntoView({ block: 'start' })
  }, [p])
  return (
    <Stack ref={top} gap="sm" data-preview={posts}>
      <Alert color={posts > 0 ? 'indigo' : 'gray'} title={t('rules.previewPosts', { count: posts })}>
        <Stack gap="xs">
          <Text size="sm">
            {t('rules.previewArticles', { count: p.articles })} {p.partial && t('rules.previewPartial')}
          </Text>
          <Group gap="xs">
            {Object.entries(p.counts)
              .filter(([reason]) => reason !== 'matched')
              .map(([reason, n]) => (
                <Badge key={reason} variant="light" color="gray" tt="none">
                  {t(`rules.counts.${reason as Schemas['RuleReason']}`)}: {n}
                </Badge>
              ))}
          </Group>
        </Stack>
      </Alert>
      {p.decisions.map((d) => (
        <Stack key={`${d.article_id} ${d.decided_at}`} gap={4} data-decision={d.article_id}>
          <Group gap="xs">
            <Outcome outcome={d.outcome} />
            <Text size="sm" fw={500} className="dl-text">
              {d.title}
            </Text>
          </Group>
          <Text size="xs" c="dimmed">
            <ReasonText reason={d.reason} params={d.params} /> · <Time at={d.decided_at} />
            {d.publish_at && (
              <>
                {' · '}
                {t('rules.publishAt')} <Time at={d.publish_at} />
              </>
            )}
          </Text>
          {d.texts.map((x) => (
            <Stack
              key={x.account_id}
              gap={0}
              pl="sm"
              style={{ borderInlineStart: '2px solid var(--mantine-color-default-border)' }}
            >
              <Text size="sm" style={{ whiteSpace: 'pre-wrap' }} className="dl-text">
                {x.text}
              </Text>
              <Text size="xs" c="dimmed">
                {x.network} · {x.max_characters ? `${x.characters}/${x.max_characters}` : x.characters}
              </Text>
            </Stack>
          ))}
        </Stack>
      ))}
    </Stack>
  )
}
