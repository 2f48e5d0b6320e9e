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
const load = () => import('./formState')

test('entries survive a reload of the page', async () => {
  const { saveField } = await load()
  saveField('rule', 'name', 'Thể thao')
  saveField('rule', 'tags', ['a', 'b'])
  vi.resetModules()
  const again = await load()
  expect(again.savedField('rule', 'name')).toBe('Thể thao')
  expect(again.savedField('rule', 'tags')).toEqual(['a', 'b'])
  expect(again.hasEntries('rule')).toBe(true)
  expect(again.hasEntries('watch')).toBe(false)
})

test('a form that was sent or emptied keeps nothing', async () => {
  const { saveField, forget, hasEntries } = await load()
  saveField('rule', 'name', 'Thể thao')
  forget('rule')
  expect(hasEntries('rule')).toBe(false)
  saveField('rule', 'name', 'Thể thao')
  saveField('rule', 'name', undefined)
  expect(hasEntries('rule')).toBe(false)
  expect(storage.size).toBe(0)
})

test('forms of the next user are empty', async () => {
  const { saveField, forgetAll, hasEntries } = await load()
  saveField('rule', 'name', 'Thể thao')
  storage.set('other', 'stays')
  forgetAll()
  expect(hasEntries('rule')).toBe(false)
  expect([...storage.keys()]).toEqual(['other'])
})

test('forms are those of one user in one workspace', async () => {
  const { saveField, restrictTo, hasEntries } = await load()
  restrictTo('lan', 'desk')
  saveField('rule', 'name', 'Thể thao')
  restrictTo('lan', 'desk')
  expect(hasEntries('rule')).toBe(true)
  restrictTo('lan', 'sports')
  expect(hasEntries('rule')).toBe(false)
  saveField('rule', 'name', 'Thể thao')
  restrictTo('minh', 'sports')
  expect(hasEntries('rule')).toBe(false)
})

test('what cannot be read is not kept', async () => {
  storage.set('dateline-form rule', '{broken')
  const { hasEntries } = await load()
  expect(hasEntries('rule')).toBe(false)
})
