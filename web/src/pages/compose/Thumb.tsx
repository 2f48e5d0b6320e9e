import { Group, Image } from '@mantine/core'
import { IconFileTypePdf, IconMovie } from '@tabler/icons-react'
import { type Media, mediaURL } from '../../api/client'

export function Thumb({ media }: { media?: Media }) {
  if (!media) return null
  if (media.kind === 'video' || media.kind === 'document') {
    const Icon = media.kind === 'video' ? IconMovie : IconFileTypePdf
    return (
      <Group justify="center" h="100%" bg="var(--mantine-color-default-hover)">
        <Icon size={32} aria-label={media.alt_text || media.file_name} role="img" />
      </Group>
    )
  }
  return (
    <Image
      className="dl-thumb"
      src={mediaURL(media.id)}
      alt={media.alt_text || media.file_name}
      h="100%"
      fit="cover"
      loading="lazy"
    />
  )
}
