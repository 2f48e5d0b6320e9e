import type { Post, Schemas } from '../../api/client'
import { toInstant, toWall, type Wall } from '../../lib/time'

/** One segment of a post. */
export interface Part {
  content: string
  attachments: string[]
}

/** A post as it is being written. */
export interface Draft {
  parts: Part[]
  /** What is written differently for an account, by its id. */
  versions: Record<string, Part[]>
  accounts: string[]
  /** On a wall clock of the zone; empty: not decided. */
  when: Wall | ''
  zone: string
  trackLinks: boolean
  /** Minutes; rather not publish than later. 0: always publish. */
  dropIfLate: number
  /** ISO 639; empty: not told. */
  language: string
}

export const emptyPart = (): Part => ({ content: '', attachments: [] })

export function newDraft(accounts: string[], zone: string, at?: string): Draft {
  return { parts: [emptyPart()], versions: {}, accounts, when: at ?? '', zone, trackLinks: false, dropIfLate: 0, language: '' }
}

export function draftOf(post: Post): Draft {
  const parts = [{ content: post.content, attachments: post.attachments }, ...(post.thread ?? [])]
  const versions: Draft['versions'] = {}
  for (const { account_id, override } of post.targets) {
    if (!override) continue
    const first = { content: override.content ?? post.content, attachments: override.attachments ?? post.attachments }
    versions[account_id] = [first, ...(override.thread ?? post.thread ?? [])]
  }
  return {
    parts, versions, accounts: post.targets.map((t) => t.account_id), zone: post.time_zone, trackLinks: post.track_links ?? false,
    dropIfLate: post.drop_if_late_minutes ?? 0, language: post.language ?? '',
    when: post.scheduled_time ? toWall(post.scheduled_time, post.time_zone).slice(0, 16) : '',
  }
}

const body = ([first, ...thread]: Part[]) => ({ content: first?.content ?? '', attachments: first?.attachments ?? [], thread })

/** What is stored and previewed. */
export function contentOf(d: Draft): Schemas['PreviewedPost'] {
  const chosen = Object.entries(d.versions).filter(([id]) => d.accounts.includes(id))
  return {
    ...body(d.parts),
    overrides: Object.fromEntries(chosen.map(([id, parts]) => [id, body(parts)])),
    ...(d.accounts.length > 0 ? { accounts: d.accounts } : {}),
    track_links: d.trackLinks,
    drop_if_late_minutes: d.dropIfLate,
    language: d.language,
    time_zone: d.zone,
  }
}

/** What each occurrence of a series says; it has no time of its own. */
export function templateOf(d: Draft): Schemas['SeriesTemplate'] {
  const { content = '', time_zone: _, ...rest } = contentOf(d)
  return { content, ...rest }
}

/** As contentOf, taking back the versions that were stored and are no more. */
export function editOf(d: Draft, stored: Iterable<string>): Schemas['PostEdit'] {
  const content = contentOf(d)
  const overrides: NonNullable<Schemas['PostEdit']['overrides']> = { ...content.overrides }
  for (const id of stored) if (!(id in overrides)) overrides[id] = null
  return { ...content, overrides }
}

/** Whether the time that was chosen is still ahead. */
export const isAhead = (d: Draft, now = Date.now()) => d.when !== '' && toInstant(d.when, d.zone).getTime() > now

export const isBlank = (d: Draft) => d.parts.every((p) => p.content.trim() === '' && p.attachments.length === 0)
