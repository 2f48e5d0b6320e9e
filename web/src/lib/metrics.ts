import type { TFunction } from 'i18next'
import type { Schemas } from '../api/client'
import { weekdayName } from './time'

/** The order in which metrics of posts are shown; others follow. */
const order = ['views', 'reach', 'likes', 'replies', 'reposts', 'quotes', 'saves', 'sends', 'clicks', 'clicks_all']

/** The metrics that any of the values has, in the order of display. */
export function metricNames(values: Schemas['MetricValues'][]): string[] {
  const names = new Set(values.flatMap((v) => Object.keys(v)))
  return [...order.filter((name) => names.delete(name)), ...[...names].sort()]
}

/** A metric's name for people; the network's name for one that is not known. */
export const metricLabel = (t: TFunction, name: string): string =>
  t(`postMetrics.names.${name}`, { defaultValue: name })

/** A value of a dimension for people. */
export function dimensionLabel(
  group: Pick<Schemas['PostReportGroup'], 'by' | 'value' | 'label'>,
  language: string,
  network: (name: string) => string,
): string {
  switch (group.by) {
    case 'network':
      return network(group.value)
    case 'weekday':
      return weekdayName(Number(group.value) - 1, language)
    case 'hour':
      return `${group.value.padStart(2, '0')}:00`
    default:
      return group.label ?? group.value
  }
}

/** Colors of lines in charts, names of Mantine's. */
export const seriesColors = ['indigo-5', 'teal-5', 'orange-5', 'grape-5', 'cyan-5', 'red-5', 'lime-6', 'pink-5']
