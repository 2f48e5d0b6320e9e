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

test.each([
  ['Hoà', 'Hòa'],
  ['Lan  Anh', 'Lan\u00a0Anh'],
  ['Nguyễn Thị Ánh', 'Nguye\u0302\u0303n Thi\u0323 A\u0301nh'],
  ['Lý', 'lí'],
  ['Đức (Desk)', 'Ðức (desk)'],
])('%s is mentioned as %s', (name, typed) => {
  const desk = [...people, { id: '4', name }]
  expect(mentionedIn(`Gửi @${typed}, xem nhé`, desk)).toEqual(['4'])
  expect(mentionedIn(`@${typed}`, desk)).toEqual(['4'])
  expect(partsOf(`@${typed}!`, desk).map((p) => p.text)).toEqual([`@${name}`, '!'])
})

test('a name in its own case is preferred to a longer one', () => {
  expect(mentionedIn('@Lan anh nghĩ sao?', people)).toEqual(['1'])
  expect(mentionedIn('@lan anh', people)).toEqual(['2'])
})

test('another word is no mention', () => {
  expect(
    mentionedIn('@Lana @Hoa @Thúi @La\u0301n', [...people, { id: '4', name: 'Hòa' }, { id: '5', name: 'Thúy' }]),
  ).toEqual([])
})

test('an address or a longer name is no mention', () => {
  expect(mentionedIn('minh@Minh.example @Minhh @Ai', people)).toEqual([])
})

test('what is typed after an @ asks for names', () => {
  expect(typedMention('Chào @La', 8)).toEqual({ at: 5, name: 'La' })
  expect(typedMention('a@b', 3)).toBeUndefined()
  expect(typedMention('Chào', 4)).toBeUndefined()
})
