import type { Post, Schemas } from '../../api/client'
import type { Utm } from '../../components/Utm'
import type { Options } from './options/fields'
import { toInstant, toWall, type Wall } from '../../lib/time'

/** One segment of a post. */
export interface Part {
  content: string
  attachments: string[]
  /** The delay after the previous segment; not for the first. */
  after_minutes?: number
}

/** An account's override: a missing field is inherited, also when the post changes later; an empty one means none. */
export interface Version {
  content?: string
  attachments?: string[]
  thread?: Part[]
  options?: Options
}

/** A post in the editor. */
export interface Draft {
  parts: Part[]
  /** The overrides by account id. */
  versions: Record<string, Version>
  accounts: string[]
  /** The options by network. */
  options: Options
  /** Local time in the zone; empty: not chosen. */
  when: Wall | ''
  zone: string
  trackLinks: boolean
  /** The UTM parameters of tracked links, in place of those of the account and the campaign. */
  utm: Utm
  /** Minutes after which the post is dropped instead of published. 0: never. */
  dropIfLate: number
  /** ISO 639; empty: not specified. */
  language: string
}

export const emptyPart = (): Part => ({ content: '', attachments: [] })

export function newDraft(accounts: string[], zone: string, at?: string): Draft {
  return {
    parts: [emptyPart()],
    versions: {},
    accounts,
    options: {},
    when: at ?? '',
    zone,
    trackLinks: false,
    utm: {},
    dropIfLate: 0,
    language: '',
  }
}

export function draftOf(post: Post): Draft {
  const parts = [{ content: post.content, attachments: post.attachments }, ...(post.thread ?? [])]
  const versions: Draft['versions'] = {}
  for (const { account_id, override } of post.targets) {
    if (override) versions[account_id] = override
  }
  return {
    parts,
    versions,
    options: post.options ?? {},
    accounts: post.targets.map((t) => t.account_id),
    zone: post.time_zone,
    trackLinks: post.track_links ?? false,
    utm: post.utm ?? {},
    dropIfLate: post.drop_if_late_minutes ?? 0,
    language: post.language ?? '',
    when: post.scheduled_time ? toWall(post.scheduled_time, post.time_zone).slice(0, 16) : '',
  }
}

const body = ([first, ...thread]: Part[]) => ({
  content: first?.content ?? '',
  attachments: first?.attachments ?? [],
  thread,
})

/** The content for an account. */
export function partsOf(d: Draft, id: string): Part[] {
  const [first = emptyPart(), ...thread] = d.parts
  const own = d.versions[id] ?? {}
  return [
    { content: own.content ?? first.content, attachments: own.attachments ?? first.attachments },
    ...(own.thread ?? thread),
  ]
}

/** Changes the content for one account; other fields stay inherited or its own. */
export function withParts(d: Draft, id: string, update: (p: Part[]) => Part[]): Draft {
  const before = partsOf(d, id)
  const [first = emptyPart(), ...thread] = update(before)
  const own = { ...d.versions[id] }
  if (first.content !== before[0]?.content) own.content = first.content
  if (first.attachments !== before[0]?.attachments) own.attachments = first.attachments
  if (thread.length !== before.length - 1 || thread.some((p, i) => p !== before[i + 1])) own.thread = thread
  return { ...d, versions: { ...d.versions, [id]: own } }
}

/** A version of its own: a copy of the post's content that no longer follows it. */
export const copyOf = ({ parts: [first = emptyPart(), ...thread] }: Draft): Version =>
  structuredClone({ content: first.content, attachments: first.attachments, thread })

/** Accounts that do not inherit the files of a segment. */
export const withOwnMedia = (d: Draft, part: number) =>
  d.accounts.filter((id) => {
    const own = d.versions[id]
    return part === 0 ? own?.attachments !== undefined : own?.thread?.[part - 1] !== undefined
  })

/** Adds files to the same segment of those versions. */
export function withMediaToo(d: Draft, ids: string[], part: number, files: string[]): Draft {
  const more = (p: Part) => ({
    ...p,
    attachments: [...p.attachments, ...files.filter((f) => !p.attachments.includes(f))],
  })
  return ids.reduce((all, id) => withParts(all, id, (parts) => parts.map((p, i) => (i === part ? more(p) : p))), d)
}

/** The content that is stored and previewed. */
export function contentOf(d: Draft): Schemas['PreviewedPost'] {
  const chosen = Object.entries(d.versions).filter(([id]) => d.accounts.includes(id))
  return {
    ...body(d.parts),
    options: d.options,
    overrides: Object.fromEntries(chosen),
    ...(d.accounts.length > 0 ? { accounts: d.accounts } : {}),
    track_links: d.trackLinks,
    utm: d.utm,
    drop_if_late_minutes: d.dropIfLate,
    language: d.language,
    time_zone: d.zone,
  }
}

/** The template of a series, without a time. */
export function templateOf(d: Draft): Schemas['SeriesTemplate'] {
  const { content = '', time_zone: _, utm: __, ...rest } = contentOf(d)
  return { content, ...rest }
}

/** Like contentOf, and removes stored versions that the draft no longer has. */
export function editOf(d: Draft, stored: Iterable<string>): Schemas['PostEdit'] {
  const content = contentOf(d)
  const overrides: NonNullable<Schemas['PostEdit']['overrides']> = { ...content.overrides }
  for (const id of stored) if (!(id in overrides)) overrides[id] = null
  return { ...content, overrides }
}

/** Reports whether the chosen time is in the future. */
export const isAhead = (d: Draft, now = Date.now()) => d.when !== '' && toInstant(d.when, d.zone).getTime() > now

export const isBlank = (d: Draft) => d.parts.every((p) => p.content.trim() === '' && p.attachments.length === 0)

const hasDelay = (thread?: { after_minutes?: number }[]) => thread?.some((part) => part.after_minutes) ?? false

/** Whether the post is a thread whose next part follows later: what follows can still be changed. */
export const waits = (p: Pick<Post, 'status' | 'thread' | 'targets'>) =>
  p.status === 'publishing' && (hasDelay(p.thread) || p.targets.some((x) => hasDelay(x.override?.thread)))
