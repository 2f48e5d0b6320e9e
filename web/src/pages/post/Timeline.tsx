import { Text, Timeline as Line } from '@mantine/core'
import type { Schemas } from '../../api/client'
import { NetworkIcon } from '../../components/network'
import { Time } from '../../components/Time'
import { useActorName } from '../../components/people'
import { timelineText } from '../../i18n/message'

const colors: Record<string, string> = {
  posted: 'green',
  failed: 'red',
  uncertain: 'orange',
  differs: 'orange',
  deleted: 'gray',
  ambiguous: 'orange',
  problem: 'red',
  late: 'orange',
  canceled: 'gray',
  retrying: 'yellow',
}

/** A post's timeline with the names of those who acted, oldest first. */
export function Timeline({ story }: { story: Schemas['Timeline'] }) {
  const nameOf = useActorName(story.post_id)
  return (
    <Line
      bulletSize={14}
      lineWidth={2}
      active={story.entries.length}
      aria-live="polite"
      styles={{ item: { marginTop: 14 } }}
    >
      {story.entries.map((e, i) => (
        <Line.Item key={i} color={colors[e.type] ?? 'indigo'} data-event={e.type}>
          <Text size="xs" c="dimmed">
            <Time at={e.at} zone={story.time_zone} look="short" />
            {e.target && (
              <>
                {' '}
                · <NetworkIcon network={e.target.network} size={12} /> {e.target.handle}
              </>
            )}
          </Text>
          <Text size="sm" className="dl-text">
            {nameOf(e.actor) && (
              <Text span inherit fw={600} data-actor>
                {nameOf(e.actor)}:{' '}
              </Text>
            )}
            <span>{timelineText(e)}</span>
          </Text>
        </Line.Item>
      ))}
    </Line>
  )
}
