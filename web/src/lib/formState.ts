import { useCallback, useState, useSyncExternalStore } from 'react'

// What is typed into a form belongs to the user: it stays when the form is closed by Esc or a click beside it, when the
// page is left, and when it is loaded again in the same tab. It is gone when the form is sent or discarded.

type Fields = Readonly<Record<string, unknown>>

const prefix = 'dateline-form '
const forms = new Map<string, Fields>()
const listeners = new Set<() => void>()
const none: Fields = {}

function read(form: string): Fields {
  const known = forms.get(form)
  if (known) return known
  let stored = none
  try {
    stored = JSON.parse(sessionStorage.getItem(prefix + form) ?? '{}') as Fields
  } catch {
    // Unreadable: nothing is kept.
  }
  forms.set(form, stored)
  return stored
}

function write(form: string, fields: Fields, secrets: Fields) {
  forms.set(form, { ...fields, ...secrets })
  try {
    if (Object.keys(fields).length > 0) sessionStorage.setItem(prefix + form, JSON.stringify(fields))
    else sessionStorage.removeItem(prefix + form)
  } catch {
    // Storage is full or forbidden: it is kept until the page is loaded again.
  }
  for (const notify of listeners) notify()
}

const secretFields = new Map<string, Set<string>>()

/** Saves the value of a field; undefined forgets it. */
export function saveField(form: string, field: string, value: unknown) {
  const { [field]: _, ...others } = read(form)
  const all: Fields = value === undefined ? others : { ...others, [field]: value }
  const isSecret = ([name]: [string, unknown]) => secretFields.get(form)?.has(name) ?? false
  const entries = Object.entries(all)
  write(form, Object.fromEntries(entries.filter((e) => !isSecret(e))), Object.fromEntries(entries.filter(isSecret)))
}

/** The saved value of a field. */
export const savedField = (form: string, field: string): unknown => read(form)[field]

/** Whether a form has unsent entries. */
export const hasEntries = (form: string): boolean => Object.keys(read(form)).length > 0

/** Forgets the entries of a form: they were sent or discarded. */
export const forget = (form: string): void => write(form, none, none)

/** Forgets all forms: another user may log in. */
export function forgetAll(): void {
  for (const form of forms.keys()) forms.set(form, none)
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  } catch {
    // Storage is forbidden: nothing was stored.
  }
  for (const notify of listeners) notify()
}

/** Forgets all forms unless they are those of this user in this workspace: a session may have ended without a logout. */
export function restrictTo(user: string, workspace: string): void {
  const key = 'dateline-forms-of'
  const owner = `${user} ${workspace}`
  try {
    if (sessionStorage.getItem(key) === owner) return
    forgetAll()
    sessionStorage.setItem(key, owner)
  } catch {
    // Storage is forbidden: nothing was stored.
  }
}

const subscribe = (notify: () => void) => {
  listeners.add(notify)
  return () => void listeners.delete(notify)
}

const isSame = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b)

/**
 * Like useState, but the value is kept with its form. secret: it is never stored in the browser, and is kept only until
 * the page is loaded again.
 */
export function useFormState<T>(
  form: string,
  field: string,
  initial: T | (() => T),
  { secret = false } = {},
): [T, (next: T | ((was: T) => T)) => void] {
  const [first] = useState(initial)
  if (secret) {
    const names = secretFields.get(form) ?? new Set()
    names.add(field)
    secretFields.set(form, names)
  }
  const value = useSyncExternalStore(subscribe, () => read(form)[field]) as T | undefined
  const set = useCallback(
    (next: T | ((was: T) => T)) => {
      const was = (read(form)[field] ?? first) as T
      const now = typeof next === 'function' ? (next as (was: T) => T)(was) : next
      saveField(form, field, isSame(now, first) ? undefined : now)
    },
    [form, field, first],
  )
  return [value ?? first, set]
}
