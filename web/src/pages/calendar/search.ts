export const views = ['month', 'week', 'day', 'agenda', 'list'] as const
export type CalendarView = (typeof views)[number]
export interface CalendarSearch {
  view?: CalendarView
  date?: string
  status?: string
  account?: string
  network?: string
  label?: string
  /** Words to search for. */
  q?: string
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** Validates the search parameters of the calendar's address. */
export const calendarSearch = (search: Record<string, unknown>): CalendarSearch => ({
  view: views.find((v) => v === search.view),
  date: /^\d{4}-\d\d-\d\d$/.test(String(search.date)) ? String(search.date) : undefined,
  status: text(search.status),
  account: text(search.account),
  network: text(search.network),
  label: text(search.label),
  q: text(search.q),
})
