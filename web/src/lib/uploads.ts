import { useSyncExternalStore } from 'react'
import type { Media } from '../api/client'
import { upload } from '../api/upload'

/** A file on its way. It continues when its page is left. */
export interface Sending {
  key: string
  name: string
  bytes: number
  share: number
  /** When the share was read, in milliseconds. */
  at: number
  cancel: () => void
}

let all: readonly Sending[] = []
const listeners = new Set<() => void>()

function set(next: readonly Sending[]) {
  // The browser asks before a reload, which would drop what is on its way.
  if (next.length > 0 && all.length === 0) addEventListener('beforeunload', ask)
  if (next.length === 0) removeEventListener('beforeunload', ask)
  all = next
  for (const notify of listeners) notify()
}
const ask = (e: BeforeUnloadEvent) => e.preventDefault()

const subscribe = (notify: () => void) => {
  listeners.add(notify)
  return () => void listeners.delete(notify)
}

/** The files on their way, of all pages. */
export const useUploads = () => useSyncExternalStore(subscribe, () => all)

/** Uploads files one after the other. done is called after each. */
export async function uploadAll(
  files: Iterable<File>,
  began: (key: string) => void,
  done: (made: Media) => void,
  failed: (file: File, error: unknown) => void,
  send = upload,
): Promise<Media[]> {
  const waiting = [...files].map((file) => ({ file, key: crypto.randomUUID(), stop: new AbortController() }))
  const remove = (key: string) => set(all.filter((s) => s.key !== key))
  set([
    ...all,
    ...waiting.map(({ file, key, stop }) => ({
      key,
      name: file.name,
      bytes: file.size,
      share: 0,
      at: performance.now(),
      cancel: () => {
        stop.abort()
        remove(key)
      },
    })),
  ])
  const made: Media[] = []
  for (const { key } of waiting) began(key)
  for (const { file, key, stop } of waiting) {
    if (stop.signal.aborted) continue
    try {
      const progress = (share: number) =>
        set(all.map((s) => (s.key === key ? { ...s, share, at: performance.now() } : s)))
      const media = await send(file, progress, stop.signal)
      made.push(media)
      done(media)
    } catch (error) {
      if (!stop.signal.aborted) failed(file, error)
    }
    remove(key)
  }
  return made
}
