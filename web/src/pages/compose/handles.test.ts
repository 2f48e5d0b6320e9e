import { expect, test } from 'vitest'
import { typedHandle } from './handles'

test('a handle is offered after an @ at the beginning of a word', () => {
  const at = (text: string) => typedHandle(text, text.length)
  expect(at('@na')).toEqual({ at: 0, name: 'na' })
  expect(at('Theo @nam.ba')).toEqual({ at: 5, name: 'nam.ba' })
  expect(at('Theo @nam@social')).toEqual({ at: 5, name: 'nam@social' })
  expect(at('(@Đài')).toEqual({ at: 1, name: 'Đài' })
  for (const text of ['@n', 'mail@na', 'Theo @na ', '@ na', 'x', ''])
    expect([text, at(text)]).toEqual([text, undefined])
  expect(typedHandle('@nam ơi', 3)).toEqual({ at: 0, name: 'na' })
})
