import { Badge, type MantineColor } from '@mantine/core'
import {
  IconAlertTriangle,
  IconBan,
  IconCheck,
  IconChecks,
  IconClock,
  IconHelpHexagon,
  type IconProps,
  IconPencil,
  IconSend,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import { useTranslation } from 'react-i18next'
import type { PostStatus, Schemas } from '../api/client'

export type AnyStatus = PostStatus | Schemas['TargetStatus'] | 'pending' | 'rejected' | 'waiting'

/** Never by color alone: each has an icon and a word. */
export const looks: Record<AnyStatus, { color: MantineColor; icon: ComponentType<IconProps> }> = {
  draft: { color: 'gray', icon: IconPencil },
  pending: { color: 'grape', icon: IconHelpHexagon },
  rejected: { color: 'pink', icon: IconBan },
  waiting: { color: 'gray', icon: IconClock },
  scheduled: { color: 'indigo', icon: IconClock },
  publishing: { color: 'cyan', icon: IconSend },
  posted: { color: 'green', icon: IconCheck },
  partly_posted: { color: 'orange', icon: IconChecks },
  failed: { color: 'red', icon: IconAlertTriangle },
  uncertain: { color: 'orange', icon: IconHelpHexagon },
  canceled: { color: 'gray', icon: IconBan },
}

/** What matters about a post: the approval of a draft, and an account of which nobody knows whether the post is there. */
export function statusOf(post: {
  status: PostStatus
  approval?: { state: string }
  targets?: { status: Schemas['TargetStatus'] }[]
}): AnyStatus {
  if (post.status === 'draft' && (post.approval?.state === 'pending' || post.approval?.state === 'rejected'))
    return post.approval.state
  return post.targets?.some((x) => x.status === 'uncertain') ? 'uncertain' : post.status
}

/** The status of a target. It is scheduled only with its post: until then it waits. */
export const targetStatusOf = (post: { status: PostStatus }, target: { status: Schemas['TargetStatus'] }): AnyStatus =>
  post.status === 'draft' && target.status === 'scheduled' ? 'waiting' : target.status

export function StatusBadge({ status, size = 'md' }: { status: AnyStatus; size?: 'sm' | 'md' | 'lg' }) {
  const { t } = useTranslation()
  const { color, icon: Icon } = looks[status]
  return (
    <Badge
      variant="light"
      color={color}
      size={size}
      tt="none"
      fw={600}
      style={{ flexShrink: 0 }}
      leftSection={<Icon size={14} aria-hidden />}
      title={t(`status.${status}`)}
      data-status={status}
    >
      {t(`status.${status}`)}
    </Badge>
  )
}
