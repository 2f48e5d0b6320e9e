import { readdirSync, readFileSync } from 'node:fs'
import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { showChange, showData } from './optimistic'

interface Entry {
  id: string
  on?: boolean
}
const turnOn = (id: string) => (one: Entry) => (one.id === id ? { ...one, on: true } : one)

test.each([
  ['a list', [{ id: 'a' }, { id: 'b' }], [{ id: 'a' }, { id: 'b', on: true }]],
  ['a page', { rules: [{ id: 'b' }], next: 'c' }, { rules: [{ id: 'b', on: true }], next: 'c' }],
  [
    'pages',
    { pages: [{ seeds: [{ id: 'a' }] }, { seeds: [{ id: 'b' }] }], pageParams: ['', 'c'] },
    { pages: [{ seeds: [{ id: 'a' }] }, { seeds: [{ id: 'b', on: true }] }], pageParams: ['', 'c'] },
  ],
])('a change is shown in %s before the response, and restored when it is refused', (_, before, shown) => {
  const client = new QueryClient()
  client.setQueryData(['things'], before)
  client.setQueryData(['things', 'a'], before)
  const restore = showChange<Entry>(client, ['things'], turnOn('b'))
  expect(client.getQueryData(['things'])).toEqual(shown)
  expect(client.getQueryData(['things', 'a'])).toEqual(before) // other data of the same prefix
  restore()
  expect(client.getQueryData(['things'])).toEqual(before)
})

test('an entry that is deleted disappears before the response', () => {
  const client = new QueryClient()
  client.setQueryData(['things'], [{ id: 'a' }, { id: 'b' }])
  const restore = showChange<Entry>(client, ['things'], (one) => (one.id === 'a' ? undefined : one))
  expect(client.getQueryData(['things'])).toEqual([{ id: 'b' }])
  restore()
  expect(client.getQueryData(['things'])).toEqual([{ id: 'a' }, { id: 'b' }])
})

test('data that was not loaded stays that way', () => {
  const client = new QueryClient()
  showData<Entry>(client, ['thing'], (one) => ({ ...one, on: true }))()
  expect(client.getQueryData(['thing'])).toBeUndefined()
})

// What composes and moves posts shows its result by other means: the form itself, and the dragged event.
const own = ['lib/act.ts', 'pages/article/MakePost.tsx', 'pages/compose/', 'pages/calendar/']

test('every action answers at once: it shows its result, or its control is busy', () => {
  const src = new URL('..', import.meta.url)
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((f) => /(?<!test)\.tsx?$/.test(f))
  const silent: string[] = []
  let acts = 0
  for (const file of files) {
    const text = readFileSync(new URL(file, src), 'utf8')
    if (/useMutation\(/.test(text) && !own.some((o) => file.startsWith(o))) silent.push(`${file}: useMutation`)
    for (const [, name, body] of text.matchAll(/const (\w+) = useAct(?:<[^(]*>)?\(\{(.*?)\n {2}\}\)/gs)) {
      acts++
      const shows = /\n {4}show[:,(]/.test(body ?? '')
      if (!shows && !new RegExp(`\\b${name}\\.(isPending|mutateAsync)`).test(text)) silent.push(`${file}: ${name}`)
    }
  }
  expect(silent).toEqual([])
  expect(acts).toBeGreaterThan(60)
})
