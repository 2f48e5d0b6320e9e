import { beforeEach, expect, test, vi } from 'vitest'

const storage = new Map<string, string>()
beforeEach(() => {
  vi.resetModules()
  storage.clear()
  vi.stubGlobal(
    'sessionStorage',
    new Proxy(
      {
        getItem: (key: string) => storage.get(key) ?? null,
        setItem: (key: string, value: string) => void storage.set(key, value),
        removeItem: (key: string) => void storage.delete(key),
      },
      {
        ownKeys: () => [...storage.keys()],
        getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
      },
    ),
  )
})
const load = () => import('./kept')

test('entries survive a reload of the page', async () => {
  const { keep } = await load()
  keep('rule', 'name', 'Thể thao')
  keep('rule', 'tags', ['a', 'b'])
  vi.resetModules()
  const again = await load()
  expect(again.kept('rule', 'name')).toBe('Thể thao')
  expect(again.kept('rule', 'tags')).toEqual(['a', 'b'])
  expect(again.isKept('rule')).toBe(true)
  expect(again.isKept('watch')).toBe(false)
})

test('a form that was sent or emptied keeps nothing', async () => {
  const { keep, forget, isKept } = await load()
  keep('rule', 'name', 'Thể thao')
  forget('rule')
  expect(isKept('rule')).toBe(false)
  keep('rule', 'name', 'Thể thao')
  keep('rule', 'name', undefined)
  expect(isKept('rule')).toBe(false)
  expect(storage.size).toBe(0)
})

test('forms of the next user are empty', async () => {
  const { keep, forgetAll, isKept } = await load()
  keep('rule', 'name', 'Thể thao')
  storage.set('other', 'stays')
  forgetAll()
  expect(isKept('rule')).toBe(false)
  expect([...storage.keys()]).toEqual(['other'])
})

test('what cannot be read is not kept', async () => {
  storage.set('dateline-form rule', '{broken')
  const { isKept } = await load()
  expect(isKept('rule')).toBe(false)
})
