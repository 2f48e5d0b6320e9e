import { expect, test } from 'vitest'
import { blank, clean, isWhole, pathsOf, places, withPaths } from './config'

test('edited text becomes a valid configuration', () => {
  const [first] = blank().variants
  let v = first!
  for (const place of places)
    v = withPaths(v, place, place === 'body' ? [' //main ', ''] : place === 'authors' ? ['//b[@class="who"]'] : [' '])
  expect(clean({ variants: [v] })).toEqual({
    variants: [{ name: 'articles', body: ['//main'], fields: { authors: ['//b[@class="who"]'] } }],
  })
  expect(pathsOf(v, 'authors')).toEqual(['//b[@class="who"]'])
})

test('a template without a path to the text is incomplete', () => {
  expect(isWhole(clean(blank()))).toBe(true)
  expect(isWhole(clean({ variants: [{ name: 'a', body: [' '] }] }))).toBe(false)
  expect(isWhole({ variants: [] })).toBe(false)
})
