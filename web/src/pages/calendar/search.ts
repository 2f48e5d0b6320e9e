export const views = ['month', 'week', 'day', 'agenda', 'queue', 'list'] as const
export type CalendarView = (typeof views)[number]
export interface CalendarSearch {
  view?: CalendarView
  date?: string
  status?: string
  account?: string
  network?: string
  label?: string
  /** The group whose queue is shown. */
  group?: string
  /** What the list shows if it has no dates: upcoming posts unless set. */
  show?: 'past' | 'drafts'
  /** Every post of a series is listed, not only the next one. */
  every?: boolean
  /** The first and the last day of the list. */
  from?: string
  to?: string
  /** Words to search for. */
  q?: string
}

const day = (value: unknown) => (/^\d{4}-\d\d-\d\d$/.test(String(value)) ? String(value) : undefined)
const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** Validates the search parameters of the calendar's address. */
export const calendarSearch = (search: Record<string, unknown>): CalendarSearch => ({
  view: views.find((v) => v === search.view),
  date: day(search.date),
  show: search.show === 'past' || search.show === 'drafts' ? search.show : undefined,
  every: search.every === true || undefined,
  from: day(search.from),
  to: day(search.to),
  status: text(search.status),
  account: text(search.account),
  network: text(search.network),
  label: text(search.label),
  group: text(search.group),
  q: text(search.q),
})
