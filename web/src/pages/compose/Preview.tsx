import { Alert, Anchor, Box, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { AccountName } from '../../components/network'
import { mediaQuery } from '../../lib/queries'
import { Thumb } from './Thumb'
import type { Part } from './draft'

type Segment = Schemas['SegmentPreview']

/** A post as people will see it at one network. */
export function TargetPreview({ target, parts }: { target: Schemas['TargetPreview']; parts: Part[] }) {
  const { t } = useTranslation()
  return (
    <Box component="article" className="dl-card" p="sm" aria-label={t('compose.previewOf', { handle: target.handle })} data-preview={target.network}>
      <Group justify="space-between" mb={6} wrap="nowrap">
        <AccountName network={target.network} handle={target.handle} />
        {target.price.micro_usd > 0 && (
          <Text size="xs" c="dimmed" title={target.price.reasons.join('\n')}>
            {target.price.formatted}
          </Text>
        )}
      </Group>
      <Stack gap="sm">
        {target.segments.map((s, i) => (
          <SegmentView key={i} segment={s} attachments={parts[i]?.attachments ?? []} />
        ))}
      </Stack>
    </Box>
  )
}

function SegmentView({ segment, attachments }: { segment: Segment; attachments: string[] }) {
  const { t } = useTranslation()
  return (
    <Stack gap={6}>
      {segment.text !== '' && (
        <Text size="sm" className="dl-text" component="div">
          {marked(segment)}
        </Text>
      )}
      {segment.fold_at !== undefined && (
        <Text size="xs" c="dimmed">
          {t('compose.folded', { count: segment.fold_at })}
        </Text>
      )}
      {attachments.length > 0 && (
        <Box style={{ display: 'grid', gridTemplateColumns: attachments.length > 1 ? '1fr 1fr' : '1fr', gap: 4, borderRadius: 8, overflow: 'hidden' }}>
          {attachments.slice(0, 4).map((id) => (
            <Picture key={id} id={id} />
          ))}
        </Box>
      )}
      {segment.card && attachments.length === 0 && (
        <Text size="xs" c="dimmed" truncate className="dl-card" p={6}>
          {t('compose.card', { address: segment.card })}
        </Text>
      )}
      {segment.notes.map((note) => (
        <Text key={note} size="xs" c="dimmed">
          {note}
        </Text>
      ))}
      {segment.problems.map((p) => (
        <Alert key={p.field + p.code} color="red" variant="light" p={8}>
          <Text size="sm">{p.message}</Text>
        </Alert>
      ))}
    </Stack>
  )
}

function Picture({ id }: { id: string }) {
  const media = useQuery(mediaQuery(id)).data
  return (
    <Box h={120}>
      <Thumb media={media} />
    </Box>
  )
}

/** Marks what can be clicked. Spans count Unicode code points, strings of JavaScript do not. */
function marked({ text, spans }: Segment): ReactNode[] {
  const points = Array.from(text)
  const out: ReactNode[] = []
  let at = 0
  for (const { start, end, kind, target } of spans) {
    const said = points.slice(start, end).join('')
    out.push(points.slice(at, start).join(''))
    out.push(
      kind === 'link' && /^https?:\/\//i.test(target) ? (
        <Anchor key={start} href={target} target="_blank" rel="noreferrer" inherit data-span={kind}>
          {said}
        </Anchor>
      ) : (
        <Text span c="var(--mantine-color-anchor)" key={start} data-span={kind}>
          {said}
        </Text>
      ),
    )
    at = end
  }
  out.push(points.slice(at).join(''))
  return out
}
