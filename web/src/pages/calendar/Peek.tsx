import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Post } from '../../api/client'
import { LinkButton } from '../../components/links'
import { LabelChips, LabelMenu } from '../../components/Labels'
import { AccountName } from '../../components/network'
import { StatusBadge, statusOf } from '../../components/status'
import { WhenField } from '../../components/WhenField'
import { Time } from '../../components/Time'
import { Modal } from '../../components/Modal'
import { describeRule } from '../../lib/rule'
import { toInstant, toWall } from '../../lib/time'
import type { Planned } from './planned'

interface Props {
  post: Post
  zone: string
  second?: string
  close: () => void
  move: (when: Date) => void
  moving: boolean
  may: boolean
}

/** A summary of a post, and a way to move it without dragging (WCAG 2.2, 2.5.7). */
export function Peek({ post, zone, second, close, move, moving, may }: Props) {
  const { t } = useTranslation()
  const now = post.scheduled_time ? toWall(post.scheduled_time, zone).slice(0, 16) : ''
  const [when, setWhen] = useState(now)
  const movable = may && (post.status === 'scheduled' || post.status === 'draft')
  return (
    <Modal
      opened
      onClose={close}
      title={<StatusBadge status={statusOf(post)} />}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Stack gap="sm">
        <Text className="dl-text" lineClamp={8}>
          {post.content || t('post.noText')}
        </Text>
        {post.targets.map((x) => (
          <AccountName key={x.id} network={x.network} handle={x.handle} />
        ))}
        <LabelChips ids={post.labels} />
        {post.scheduled_time && (
          <Text size="sm" c="dimmed">
            <Time at={post.scheduled_time} zone={zone} />
            {second && second !== zone && (
              <>
                {' · '}
                {second}: <Time at={post.scheduled_time} zone={second} />
              </>
            )}
          </Text>
        )}
        {movable && (
          <Group align="flex-start" gap="xs">
            <WhenField label={t('calendar.moveTo', { zone })} value={when} zone={zone} onChange={setWhen} autoFocus />
            <Button
              variant="default"
              mt={25}
              disabled={when === '' || when === now}
              loading={moving}
              onClick={() => move(toInstant(when, zone))}
            >
              {t('calendar.move')}
            </Button>
          </Group>
        )}
        <Group justify="flex-end" gap="xs">
          {may && <LabelMenu posts={[post]} />}
          {movable && (
            <LinkButton variant="default" to="/compose" search={{ id: post.id }}>
              {t('post.edit')}
            </LinkButton>
          )}
          <LinkButton to="/posts/$id" params={{ id: post.id }}>
            {t('post.open')}
          </LinkButton>
        </Group>
      </Stack>
    </Modal>
  )
}

/** The occurrence of a series that is not a post yet. */
export function PeekPlanned({
  planned: { series: s, at },
  zone,
  close,
}: {
  planned: Planned
  zone: string
  close: () => void
}) {
  const { t, i18n } = useTranslation()
  return (
    <Modal opened onClose={close} title={t('series.planned')} closeButtonProps={{ 'aria-label': t('close') }}>
      <Stack gap="sm">
        <Text className="dl-text" lineClamp={8}>
          {s.template.content || t('post.noText')}
        </Text>
        <Text size="sm" c="dimmed">
          <Time at={at.toISOString()} zone={zone} />
        </Text>
        <Text size="sm">{describeRule(s.rule, s.starts, t, i18n.language)}</Text>
        <Group justify="flex-end">
          <LinkButton to="/series">{t('series.title')}</LinkButton>
        </Group>
      </Stack>
    </Modal>
  )
}
