import { useSyncExternalStore } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Media } from '../api/client'
import { type Sending, uploadAll, useUploads as uploads } from './uploads'

vi.mock('../boot', () => ({ base: '' }))
vi.mock('react', () => ({ useSyncExternalStore: vi.fn() }))

const listening = new Set<string>()
beforeEach(() => {
  listening.clear()
  vi.stubGlobal('addEventListener', (name: string) => listening.add(name))
  vi.stubGlobal('removeEventListener', (name: string) => listening.delete(name))
})

const file = (name: string) => ({ name }) as File
const media = (f: File) => ({ id: f.name }) as Media

test('files are uploaded one after the other, and a failed one does not stop the others', async () => {
  const done = vi.fn()
  const failed = vi.fn()
  const send = vi.fn(async (f: File) => {
    if (f.name === 'b') throw new Error('too large')
    return media(f)
  })
  const made = await uploadAll([file('a'), file('b'), file('c')], vi.fn(), done, failed, send)
  expect(made.map((m) => m.id)).toEqual(['a', 'c'])
  expect(done).toHaveBeenCalledTimes(2)
  expect(failed.mock.calls.map(([f]) => f.name)).toEqual(['b'])
})

test('canceled files are not uploaded, and are no failure', async () => {
  let sending: readonly Sending[] = []
  vi.mocked(useSyncExternalStore).mockImplementation((_, get) => get())
  const failed = vi.fn()
  const send = vi.fn(async (f: File, _: unknown, signal?: AbortSignal) => {
    if (f.name !== 'a') return media(f)
    sending = uploads()
    sending[0]?.cancel() // on its way
    sending[1]?.cancel() // waiting
    signal?.throwIfAborted()
    return media(f)
  })
  const made = await uploadAll([file('a'), file('b'), file('c')], vi.fn(), vi.fn(), failed, send)
  expect(made.map((m) => m.id)).toEqual(['c'])
  expect(send).toHaveBeenCalledTimes(2)
  expect(failed).not.toHaveBeenCalled()
  expect(uploads()).toEqual([])
})

test('the browser asks before a reload only while a file is on its way', async () => {
  let finish = () => {}
  const send = (f: File) => new Promise<Media>((resolve) => (finish = () => resolve(media(f))))
  const all = uploadAll([file('a')], vi.fn(), vi.fn(), vi.fn(), send)
  expect([...listening]).toEqual(['beforeunload'])
  finish()
  await all
  expect([...listening]).toEqual([])
})
