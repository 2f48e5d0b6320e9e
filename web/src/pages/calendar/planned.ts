import type { Post, Schemas } from '../../api/client'
import { occurrences, parseRule } from '../../lib/rule'
import { toInstant, toWall } from '../../lib/time'

/** An occurrence of a series that is not a post yet. */
export interface Planned {
  series: Schemas['Series']
  occurrence: string
  at: Date
}

const perSeries = 62

/** The occurrences without a post in a range of the calendar: posts are created five weeks ahead. */
export function plannedBetween(
  all: Schemas['Series'][],
  posts: Post[],
  from: Date,
  to: Date,
  now = Date.now(),
): Planned[] {
  const made = new Set(posts.map((p) => `${p.series_id} ${p.occurrence?.slice(0, 16)}`))
  return all.flatMap((series) => {
    const rule = parseRule(series.rule)
    if (!rule || series.status !== 'active') return []
    const skipped = new Set(series.skipped.map((o) => o.slice(0, 16)))
    const stretch = { from: toWall(from, series.time_zone), to: toWall(to, series.time_zone), most: perSeries }
    return occurrences(rule, series.starts, stretch)
      .filter((wall) => !skipped.has(wall) && !made.has(`${series.id} ${wall}`))
      .map((occurrence) => ({ series, occurrence, at: toInstant(occurrence, series.time_zone) }))
      .filter(({ at }) => at.getTime() > now)
  })
}
