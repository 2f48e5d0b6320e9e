import type { Schemas } from '../../api/client'

export type Rule = Schemas['Rule']
export type Definition = Schemas['RuleDefinition']
export type NewRule = Schemas['RuleCreate']

/** A new rule: nothing is published without a person. */
export const newRule = (zone: string, accounts: string[] = []): NewRule => ({
  name: '',
  definition: {
    trigger: {},
    conditions: { max_age_hours: 24 },
    templates: { default: '{title}\n\n{url} {hashtags}' },
    hashtags: {},
    image: 'none',
    utm: { medium: 'social' },
    track_links: true,
    account_ids: accounts,
    timing: { when: 'now', hours: { from: '07:00', to: '22:00', weekdays: [], time_zone: zone } },
    mode: 'draft',
    max_per_hour: 5,
    max_per_day: 30,
  },
})

/** One line for each section or tag: "Sports: #Sports #Goal". */
export const hashtagLines = (map: Record<string, string> | undefined) =>
  Object.entries(map ?? {})
    .map(([key, tags]) => `${key}: ${tags}`)
    .join('\n')

export function readHashtagLines(text: string): Record<string, string> {
  const map: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const at = line.indexOf(':')
    if (at > 0) map[line.slice(0, at).trim()] = line.slice(at + 1).trim()
    else if (line.trim()) map[line.trim()] = ''
  }
  return map
}
