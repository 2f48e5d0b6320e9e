import i18n from 'i18next'
import { networkName } from '../lib/networks'
import { formatWall } from '../lib/time'

/** The values of a message, as the API sends them. */
export type Params = Record<string, unknown>

/** A message of the API: its code with its values, and the sentence in English. */
export interface Message {
  code?: string
  params?: Params
  message: string
}

/**
 * A template, or several: the first one whose values are all known is used. In English several are different sentences
 * with one code, so that the API's own is shown.
 */
type Template = string | string[]

/** The messages of a language by kind and code. web/messages_test.go checks that they are complete. */
export interface Catalog {
  timeline: Record<string, string>
  cause: Record<string, string>
  warning: Record<string, Template>
  alert: Record<string, Template>
  problem: Record<string, Template>
  note: Record<string, Template>
}

const none: Catalog = { timeline: {}, cause: {}, warning: {}, alert: {}, problem: {}, note: {} }

const catalog = (): Catalog => (i18n.getResourceBundle(i18n.language, 'messages') as Catalog | undefined) ?? none

/**
 * Replaces {name} and {name|one|other} by values; other is the noun for a number that is not one. A part in
 * [brackets] is omitted if one of its values is unknown. Outside of brackets such a value makes the message undefined.
 */
export function fill(template: string, text: (name: string) => string | undefined): string | undefined {
  let isComplete = true
  const put = (part: string): string | undefined => {
    let missing = false
    const filled = part.replace(/{(\w+)(?:\|([^|}]*)\|([^}]*))?}/g, (_, name: string, one?: string, other?: string) => {
      const value = text(name)
      if (value === undefined) missing = true
      return one === undefined ? (value ?? '') : `${value} ${value === '1' ? one : other}`
    })
    return missing ? undefined : filled
  }
  const filled = template
    .split(/(\[[^\]]*\])/)
    .map((part) => {
      const isOptional = part.startsWith('[')
      const done = put(isOptional ? part.slice(1, -1) : part)
      if (done === undefined && !isOptional) isComplete = false
      return done ?? ''
    })
    .join('')
  return isComplete
    ? filled
        .replace(/\s+/g, ' ')
        .replace(/ (?=[.,])/g, '')
        .trim()
    : undefined
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** A duration, such as 80.3 seconds or 5 minutes. */
export function formatSeconds(seconds: number, language = i18n.language): string {
  const [unit, size] = units.find(([, size]) => seconds >= size && seconds % size === 0) ?? ['second', 1]
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 3 }).format(
    seconds / size,
  )
}

/** A short duration, such as 12 ms or 80.3 seconds. */
export const formatMilliseconds = (ms: number, language = i18n.language): string =>
  Math.abs(ms) < 1000
    ? `${new Intl.NumberFormat(language, { maximumFractionDigits: 0 }).format(ms)} ms`
    : formatSeconds(Math.round(ms / 100) / 10, language)

/** A size, such as 1.4 MB. */
export function formatBytes(bytes: number, language = i18n.language): string {
  const [unit, size] = bytes >= 1e6 ? ['megabyte', 1e6] : bytes >= 1e4 ? ['kilobyte', 1e3] : ['byte', 1]
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit: unit as string,
    unitDisplay: bytes >= 1e4 ? 'short' : 'long',
    maximumFractionDigits: 1,
  }).format(bytes / Number(size))
}

/** A number of characters, such as 63,206. */
export const formatCount = (n: number, language = i18n.language): string => new Intl.NumberFormat(language).format(n)

/** An amount in millionths of a US dollar. */
export const formatPrice = (micro: number, language = i18n.language): string =>
  new Intl.NumberFormat(language, { style: 'currency', currency: 'USD', maximumFractionDigits: 6 }).format(micro / 1e6)

/** The text of a value: the end of its name says what it is. day is that of a timeline's entry. */
function textOf(name: string, value: unknown, day?: string): string | undefined {
  const language = i18n.language
  if (value === undefined || value === null || value === '') return undefined
  if (name.endsWith('_at') && typeof value === 'string') return formatWall(value, language, day)
  if (name.endsWith('_seconds') && typeof value === 'number')
    return value > 0 && value < 1 ? formatMilliseconds(value * 1000, language) : formatSeconds(value, language)
  if (name.endsWith('_bytes') && typeof value === 'number') return formatBytes(value, language)
  if (name === 'status' && i18n.exists(`status.${value}`))
    return i18n.t(`status.${value as 'draft'}`).toLocaleLowerCase(language)
  if (name === 'visibility' && i18n.exists(`options.value.${value}`))
    return i18n.t(`options.value.${value as 'public'}`).toLocaleLowerCase(language)
  if ((name === 'volume' || name === 'engine') && i18n.exists(`system.engine.${value}`))
    return i18n.t(`system.engine.${value as 'data'}`)
  if (name === 'resource' && i18n.exists(`system.use.${value}`))
    return i18n.t(`system.use.${value as 'memory'}`).toLocaleLowerCase(language)
  if (name === 'field' && i18n.exists(`fields.${value}`))
    return i18n.t(`fields.${value as 'title'}`).toLocaleLowerCase(language)
  if (name === 'network' || name === 'other') return networkName(String(value))
  if (typeof value === 'number') return new Intl.NumberFormat(language, { maximumFractionDigits: 2 }).format(value)
  if (Array.isArray(value)) return new Intl.ListFormat(language, { type: 'conjunction' }).format(value.map(String))
  return String(value)
}

function translate(template: Template | undefined, m: Message): string | undefined {
  if (Array.isArray(template) && i18n.language.startsWith('en')) return undefined
  for (const one of template === undefined ? [] : [template].flat()) {
    const text = fill(one, (name) => (name === 'message' ? m.message : textOf(name, m.params?.[name])))
    if (text !== undefined && text !== '') return text
  }
  return undefined
}

export const warningText = (m: Message): string => translate(catalog().warning[m.code ?? ''], m) ?? m.message

/** A note about a post, a price, a file or an account. */
export const noteText = (m: Message): string =>
  translate(catalog().note[m.code ?? ''], m) ?? catalog().cause[m.code ?? ''] ?? problemText(m)

export const alertText = (m: Message): string => translate(catalog().alert[m.code ?? ''], m) ?? m.message

/** The text of a problem. Some codes have a message of their own for a field. */
export function problemText(m: Message & { field?: string }): string {
  const { problem } = catalog()
  const leaf = m.field
    ?.replace(/\[\d+\]/g, '')
    .split('.')
    .at(-1)
  return translate(problem[`${leaf}.${m.code}`], m) ?? translate(problem[m.code ?? ''], m) ?? m.message
}

/** Whether a cause is Dateline's own, not the answer of a network. */
export const isOwnCause = (code?: string): boolean => code !== undefined && code in catalog().cause

/** Why something failed: Dateline's own codes are translated, the answer of a network is quoted. */
export function causeText(m: Message): string {
  const own = catalog().cause[m.code ?? '']
  if (own) return own
  return m.params ? problemText(m) : m.message
}

export interface TimelineEntry {
  at: string
  code: string
  text: string
  params: Params
}

/** The sentence of a timeline's entry. */
export function timelineText({ at, code, text, params }: TimelineEntry): string {
  const { timeline } = catalog()
  const template = timeline[code] ?? timeline[code.replace(/\..*/, '')]
  if (!template) return text
  const value = (name: string): string | undefined => {
    if (name === 'handle') return textOf(name, params.handle) ?? timeline.account
    if (name === 'changes') {
      const changes = ((params.changes ?? []) as string[])
        .map((field) => fill(timeline[`change.${field}`] ?? '', value) ?? '')
        .filter((c) => c !== '')
      return changes.length > 0
        ? new Intl.ListFormat(i18n.language, { type: 'conjunction' }).format(changes)
        : undefined
    }
    if (name === 'evidence' && Array.isArray(params.evidence_parts)) {
      const found = (params.evidence_parts as Message[]).map(noteText).join(' ')
      return i18n.language === 'en' ? found.charAt(0).toLowerCase() + found.slice(1) : found // within a sentence
    }
    if (name === 'message' && typeof params.message === 'string')
      return causeText({
        code: params.message_code as string | undefined,
        params: params.message_params as Params | undefined,
        message: params.message,
      })
    return textOf(name, params[name], at.slice(0, 10))
  }
  return fill(template, value) ?? text
}
