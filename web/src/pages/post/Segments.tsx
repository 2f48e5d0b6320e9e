import { Box, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Post } from '../../api/client'
import { mediaQuery } from '../../lib/queries'
import { Thumb } from '../compose/Thumb'

/** The content of a post. */
export function Segments({ post }: { post: Post }) {
  const { t } = useTranslation()
  const parts = [{ content: post.content, attachments: post.attachments }, ...(post.thread ?? [])]
  return (
    <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('post.content')}>
      {parts.map((part, i) => (
        <Stack key={i} gap="xs">
          {parts.length > 1 && (
            <Text size="xs" c="dimmed" fw={600}>
              {t('compose.partOf', { part: i + 1, parts: parts.length })}
            </Text>
          )}
          {part.content !== '' && (
            <Text className="dl-text" size="lg">
              {part.content}
            </Text>
          )}
          {part.attachments.length > 0 && (
            <Box style={{ display: 'grid', gridTemplateColumns: 'repeat(auto-fill, minmax(140px, 1fr))', gap: 8 }}>
              {part.attachments.map((id) => (
                <Attached key={id} id={id} />
              ))}
            </Box>
          )}
        </Stack>
      ))}
    </Stack>
  )
}

function Attached({ id }: { id: string }) {
  const media = useQuery(mediaQuery(id)).data
  return (
    <Box h={140} style={{ borderRadius: 8, overflow: 'hidden' }}>
      <Thumb media={media} />
    </Box>
  )
}
