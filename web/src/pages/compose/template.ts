import { createContext } from 'react'
import type { Schemas } from '../../api/client'
import { type Draft, emptyPart, isBlank, type Part, type Version } from './draft'
import { insertAt } from './insert'

type Template = Schemas['PostTemplate']

/** What snippets need of the editor that they are used in. Its identity does not change with the text. */
export interface WholePost {
  read: () => Draft
  change: (update: (d: Draft) => Draft) => void
  /** Accounts that can publish. */
  ready: string[]
}

export const WholePostContext = createContext<WholePost | undefined>(undefined)

const stored = ({ content, after_minutes }: Part) => ({ content, ...(after_minutes ? { after_minutes } : {}) })

/** The template of a post: everything but its time and its attachments. */
export function templateFrom(d: Draft): { text: string; template: Template } {
  const [first = emptyPart(), ...thread] = d.parts
  const overrides = Object.entries(d.versions).flatMap(([id, { content, thread, options }]) => {
    const kept = {
      ...(content === undefined ? {} : { content }),
      ...(thread ? { thread: thread.map(stored) } : {}),
      ...(options ? { options } : {}),
    }
    return d.accounts.includes(id) && Object.keys(kept).length > 0 ? [[id, kept] as const] : []
  })
  return {
    text: first.content,
    template: {
      ...(thread.length > 0 ? { thread: thread.map(stored) } : {}),
      ...(Object.keys(d.options).length > 0 ? { options: d.options } : {}),
      ...(overrides.length > 0 ? { overrides: Object.fromEntries(overrides) } : {}),
      ...(d.accounts.length > 0 ? { accounts: d.accounts } : {}),
      ...(d.trackLinks ? { track_links: true } : {}),
      ...(Object.keys(d.utm).length > 0 ? { utm: d.utm } : {}),
      ...(d.language ? { language: d.language } : {}),
      ...(d.dropIfLate > 0 ? { drop_if_late_minutes: d.dropIfLate } : {}),
    },
  }
}

const partOf = ({ content, after_minutes }: { content: string; after_minutes?: number }): Part => ({
  content,
  attachments: [],
  ...(after_minutes ? { after_minutes } : {}),
})

/** Puts a template into a post: its text where the cursor is, or, in a blank post, as its text. */
export function withTemplate(
  d: Draft,
  text: string,
  t: Template,
  ready: string[],
  part: number,
  cursor: number,
): Draft {
  const thread = (t.thread ?? []).map(partOf)
  const known = (t.accounts ?? []).filter((id) => ready.includes(id))
  const accounts = known.length > 0 ? known : d.accounts
  const versions: Record<string, Version> = { ...d.versions }
  for (const [id, { content, thread: own, options }] of Object.entries(t.overrides ?? {})) {
    if (accounts.includes(id))
      versions[id] = {
        ...(content === undefined ? {} : { content }),
        ...(own ? { thread: own.map(partOf) } : {}),
        ...(options ? { options } : {}),
      }
  }
  return {
    ...d,
    accounts,
    versions,
    options: { ...d.options, ...t.options },
    parts: isBlank(d)
      ? [{ ...emptyPart(), content: text }, ...thread]
      : [...d.parts.map((p, i) => (i === part ? { ...p, content: insertAt(p.content, cursor, text) } : p)), ...thread],
    trackLinks: t.track_links ?? d.trackLinks,
    utm: { ...d.utm, ...t.utm },
    language: t.language || d.language,
    dropIfLate: t.drop_if_late_minutes ?? d.dropIfLate,
  }
}
