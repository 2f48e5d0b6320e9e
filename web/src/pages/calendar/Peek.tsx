import { Button, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconCopyPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Post } from '../../api/client'
import { Anchored } from '../../components/Anchored'
import { LinkButton } from '../../components/links'
import { LabelChips, LabelMenu } from '../../components/Labels'
import { AccountName } from '../../components/network'
import { StatusBadge, statusOf } from '../../components/status'
import { WhenField } from '../../components/WhenField'
import { Time } from '../../components/Time'
import { firstWords } from '../../lib/posts'
import { describeRule } from '../../lib/rule'
import { toInstant, toWall } from '../../lib/time'
import { useCopy } from '../post/useCopy'
import { Body, type Overflow, type Entry } from './events'
import type { Planned } from './planned'

interface Props {
  post: Post
  /** What was clicked. */
  at: HTMLElement
  zone: string
  second?: string
  close: () => void
  move: (when: Date) => void
  moving: boolean
  may: boolean
}

/** A post beside its entry: edit, move (without dragging, WCAG 2.2, 2.5.7), duplicate, open. */
export function Peek({ post, at, zone, second, close, move, moving, may }: Props) {
  const { t } = useTranslation()
  const copy = useCopy()
  const now = post.scheduled_time ? toWall(post.scheduled_time, zone).slice(0, 16) : ''
  const [when, setWhen] = useState(now)
  // A failed post is sent again at its new time.
  const movable = may && ['scheduled', 'draft', 'failed'].includes(post.status)
  return (
    <Anchored
      to={at}
      close={close}
      label={firstWords(post.content) || t('post.noText')}
      heading={<StatusBadge status={statusOf(post)} />}
    >
      <Stack gap="sm">
        <Text className="dl-text" lineClamp={6} size="sm">
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
          <Group align="flex-start" gap="xs" wrap="nowrap">
            <WhenField label={t('calendar.moveTo')} value={when} zone={zone} onChange={setWhen} />
            <Button
              variant="default"
              mt={25}
              style={{ flexShrink: 0 }}
              disabled={when === '' || when === now}
              loading={moving}
              onClick={() => move(toInstant(when, zone))}
            >
              {t('calendar.move')}
            </Button>
          </Group>
        )}
        <Group gap="xs">
          {movable && (
            <LinkButton size="xs" to="/compose" search={{ id: post.id }} data-autofocus>
              {t('post.edit')}
            </LinkButton>
          )}
          <LinkButton size="xs" variant="default" to="/posts/$id" params={{ id: post.id }}>
            {t('post.open')}
          </LinkButton>
          {may && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconCopyPlus size={16} aria-hidden />}
              loading={copy.isPending}
              onClick={() => copy.mutate(post)}
            >
              {t('post.duplicate')}
            </Button>
          )}
          {may && <LabelMenu posts={[post]} size="xs" />}
        </Group>
      </Stack>
    </Anchored>
  )
}

/** The occurrence of a series that is not a post yet. */
export function PeekPlanned({
  planned: { series: s, at: time },
  at,
  zone,
  close,
}: {
  planned: Planned
  at: HTMLElement
  zone: string
  close: () => void
}) {
  const { t, i18n } = useTranslation()
  return (
    <Anchored
      to={at}
      close={close}
      label={t('series.planned')}
      heading={
        <Text size="sm" fw={600}>
          {t('series.planned')}
        </Text>
      }
    >
      <Stack gap="sm">
        <Text className="dl-text" lineClamp={6} size="sm">
          {s.template.content || t('post.noText')}
        </Text>
        <Text size="sm" c="dimmed">
          <Time at={time.toISOString()} zone={zone} />
        </Text>
        <Text size="sm">{describeRule(s.rule, s.starts, t, i18n.language)}</Text>
        <Group>
          <LinkButton size="xs" to="/series">
            {t('series.title')}
          </LinkButton>
        </Group>
      </Stack>
    </Anchored>
  )
}

/** All entries at a time with many entries, as a list. */
export function PeekOverflow({
  overflow,
  at,
  zone,
  close,
  choose,
}: {
  overflow: Overflow
  at: HTMLElement
  zone: string
  close: () => void
  choose: (entry: Entry, at: HTMLElement) => void
}) {
  const { t } = useTranslation()
  const title = t('calendar.overflow', { count: overflow.entries.length })
  return (
    <Anchored
      to={at}
      close={close}
      label={title}
      heading={
        <Text size="sm" fw={600}>
          {title}
        </Text>
      }
    >
      <Stack gap={2} component="ul" p={0} m={0} style={{ listStyle: 'none' }} data-overflow-list>
        {overflow.entries.map((entry, i) => (
          <li key={i}>
            <UnstyledButton w="100%" px={6} className="dl-overflow-row" onClick={() => choose(entry, at)}>
              <Body entry={entry} zone={zone} />
            </UnstyledButton>
          </li>
        ))}
      </Stack>
    </Anchored>
  )
}
