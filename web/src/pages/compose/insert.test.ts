import { expect, test } from 'vitest'
import { insertAt } from './insert'

test('a snippet stands apart from the words around it', () => {
  expect(insertAt('', 0, '#bão')).toBe('#bão')
  expect(insertAt('Tin mới', 7, '#bão')).toBe('Tin mới #bão')
  expect(insertAt('Tin mới', 4, '#bão')).toBe('Tin #bão mới')
  expect(insertAt('Tin\n', 4, '#bão')).toBe('Tin\n#bão')
})
