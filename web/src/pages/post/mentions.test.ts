import { expect, test } from 'vitest'
import { mentionedIn, partsOf, typedMention } from './mentions'

const people = [
  { id: '1', name: 'Lan' },
  { id: '2', name: 'Lan Anh' },
  { id: '3', name: 'Minh' },
]

test('names are found where they are mentioned, the longest first', () => {
  expect(mentionedIn('@Lan Anh hỏi @Minh, rồi @Lan Anh.', people)).toEqual(['2', '3'])
  expect(mentionedIn('@Lan ơi', people)).toEqual(['1'])
  expect(partsOf('Gửi @Minh!', people).map((p) => p.text)).toEqual(['Gửi ', '@Minh', '!'])
})

test('an address or a longer name is no mention', () => {
  expect(mentionedIn('minh@Minh.example @Minhh @Ai', people)).toEqual([])
})

test('what is typed after an @ asks for names', () => {
  expect(typedMention('Chào @La', 8)).toEqual({ at: 5, name: 'La' })
  expect(typedMention('a@b', 3)).toBeUndefined()
  expect(typedMention('Chào', 4)).toBeUndefined()
})
