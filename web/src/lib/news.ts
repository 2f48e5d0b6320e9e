import type { Schemas } from '../api/client'
import { toInstant } from './time'

/** The facets of articles, named as in the API. */
export const fields = ['domain', 'section', 'language', 'author', 'tag'] as const
export type Field = (typeof fields)[number]

/** Days back from now. */
export const spans = { day: 1, week: 7, month: 30 } as const
export type Span = keyof typeof spans

/** A search for articles as in the page's URL. */
export interface NewsSearch extends Partial<Record<Field, string[]>> {
  q?: string
  mode?: 'keyword' | 'semantic'
  sort?: 'time'
  since?: Span
  /** Days in the workspace's time zone, both included. */
  from?: string
  to?: string
}

const day = (value: unknown) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined

function list(value: unknown): string[] | undefined {
  const all = (Array.isArray(value) ? value : [value])
    .filter((v) => typeof v === 'string' || typeof v === 'number')
    .map((v) => String(v).slice(0, 300))
    .filter((v) => v !== '')
  return all.length > 0 ? [...new Set(all)].slice(0, 50) : undefined
}

/** Parses the page's URL, which is untrusted. */
export function newsSearch(raw: Record<string, unknown>): NewsSearch {
  const q = typeof raw.q === 'number' ? String(raw.q) : raw.q
  return {
    q: typeof q === 'string' && q !== '' ? q.slice(0, 500) : undefined,
    mode: raw.mode === 'keyword' || raw.mode === 'semantic' ? raw.mode : undefined,
    sort: raw.sort === 'time' ? raw.sort : undefined,
    since: typeof raw.since === 'string' && Object.hasOwn(spans, raw.since) ? (raw.since as Span) : undefined,
    from: day(raw.from),
    to: day(raw.to),
    ...Object.fromEntries(fields.map((f) => [f, list(raw[f])])),
  }
}

export const isChosen = (s: NewsSearch) =>
  fields.some((f) => s[f]) || s.since !== undefined || s.from !== undefined || s.to !== undefined

/** Reports whether all articles are requested, at most of one domain: those are listed completely, while a search ends after 1,000. */
export const isPlain = (s: NewsSearch) =>
  !s.q?.trim() && !s.section && !s.language && !s.author && !s.tag && (s.domain?.length ?? 0) < 2

/** The API's parameters of a search; time spans end now. */
export function asked(s: NewsSearch, zone: string, now: number) {
  const from = s.from
    ? toInstant(`${s.from}T00:00`, zone)
    : s.since
      ? new Date(now - spans[s.since] * 86_400_000)
      : undefined
  const to = s.to && toInstant(`${new Date(Date.parse(s.to) + 86_400_000).toISOString().slice(0, 10)}T00:00`, zone)
  return {
    ...(s.q?.trim() ? { q: s.q } : {}),
    ...(s.mode ? { mode: s.mode } : {}),
    ...(s.sort ? { sort: s.sort } : {}),
    ...(Object.fromEntries(fields.flatMap((f) => (s[f] ? [[f, s[f]]] : []))) as Partial<Record<Field, string[]>>),
    ...(from ? { from: from.toISOString() } : {}),
    ...(to ? { to: to.toISOString() } : {}),
  }
}
export type Asked = ReturnType<typeof asked>

/** The filters of a saved search, as a search. */
export function searchOf(n: Schemas['SavedSearch']): NewsSearch {
  const some = (all: string[]) => (all.length > 0 ? all : undefined)
  return {
    q: n.query || undefined,
    sort: 'time',
    domain: some(n.domains),
    section: some(n.sections),
    language: some(n.languages),
    author: some(n.authors),
    tag: some(n.tags),
  }
}

/** The part of a search that is saved: neither its times nor its order. */
export const keptOf = (s: NewsSearch) => ({
  query: s.q?.trim() ?? '',
  domains: s.domain ?? [],
  sections: s.section ?? [],
  languages: s.language ?? [],
  authors: s.author ?? [],
  tags: s.tag ?? [],
})
