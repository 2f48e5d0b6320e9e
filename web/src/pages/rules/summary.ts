import type { TFunction } from 'i18next'
import { formatSeconds } from '../../i18n/message'
import type { Definition } from './definition'

/** What rules name by ID. */
export interface Names {
  account: (id: string) => string | undefined
  group: (id: string) => string | undefined
  search: (id: string) => string | undefined
}

/** What a rule does, in one sentence: "Thể thao → @desk, 30 minutes later, for approval". */
export function summaryOf(d: Definition, names: Names, t: TFunction, language: string): string {
  const list = new Intl.ListFormat(language, { type: 'conjunction' })
  const number = new Intl.NumberFormat(language)
  const { trigger, timing } = d
  const search = trigger.saved_search_id && names.search(trigger.saved_search_id)
  const filters = [
    ...(trigger.sections ?? []),
    ...(trigger.tags ?? []).map((tag) => `#${tag}`),
    ...(trigger.authors ?? []),
    ...(trigger.domains ?? []),
    ...(trigger.saved_search_id ? [search ? `“${search}”` : t('rules.savedSearch')] : []),
  ]
  const own = trigger.own_sites
  const languages = d.conditions.languages ?? []
  const chosen = [
    filters.length > 0 ? list.format(filters) : t(own ? 'rules.says.own' : 'rules.says.all'),
    ...(own && filters.length > 0 ? [t('rules.says.ownToo')] : []),
    ...(languages.length > 0 ? [t('rules.says.languages', { languages: list.format(languages) })] : []),
  ].join(', ')
  const { trending, evergreen } = trigger
  const what = trending
    ? t('rules.says.trending', { what: chosen, views: number.format(trending.min_views), hours: trending.hours })
    : evergreen
      ? t('rules.says.evergreen', { what: chosen, views: number.format(evergreen.min_views), days: evergreen.days })
      : chosen
  const accounts = (d.account_ids ?? []).map((id) => names.account(id) ?? t('rules.says.unknown'))
  const where = d.group_id
    ? t('rules.says.group', { name: names.group(d.group_id) ?? t('rules.says.unknown') })
    : accounts.length > 0
      ? list.format(accounts)
      : t('rules.says.noAccounts')
  const when =
    timing.when === 'delay'
      ? t('rules.says.delay', { duration: formatSeconds((timing.delay_minutes ?? 30) * 60, language) })
      : t(`rules.says.${timing.when}`)
  const { hours } = timing
  return [
    `${what} → ${where}`,
    when,
    ...(hours ? [t('rules.says.hours', { from: hours.from, to: hours.to })] : []),
    t(`rules.says.${d.mode}`),
  ].join(', ')
}
