import { expect, test } from 'vitest'
import { splitFor, splitText, weigh } from './split'

const upTo = (max: number) => (part: string) => [...part].length <= max
const plain = (text: string) => text.replace(/\s+/g, ' ').trim()

test('a text is split between paragraphs, then sentences, then words', () => {
  expect(splitText('One two.\n\nThree four.', upTo(12))).toEqual(['One two.', 'Three four.'])
  expect(splitText('Một hai ba. Bốn năm sáu.', upTo(14))).toEqual(['Một hai ba.', 'Bốn năm sáu.'])
  expect(splitText('aaa bbb ccc ddd', upTo(7))).toEqual(['aaa bbb', 'ccc ddd'])
})

test('only a word that does not fit is cut, between letters', () => {
  expect(splitText('aaaaaa 👩‍👩‍👧👩‍👩‍👧 b', (p) => [...new Intl.Segmenter().segment(p)].length <= 4)).toEqual([
    'aaaa',
    'aa',
    '👩‍👩‍👧👩‍👩‍👧 b',
  ])
})

test('a short text stays whole', () => expect(splitText('Xin chào', upTo(20))).toEqual(['Xin chào']))

test.each([
  ['abc', 3],
  ['ế', 2],
  ['đ', 1],
  ['tiếng', 6],
  ['xem https://news.example/mot-dia-chi-rat-dai-khong-ai-doc-het', 27],
  ['👍', 2],
])('X counts %s as %i', (text, want) => {
  expect(weigh(text, 'x')).toBe(want)
  expect(weigh(text, 'mastodon')).toBe([...text].length)
})

test('every part fits every account, and no word is lost', () => {
  const text = 'Thủ tướng: tiếp tục đẩy mạnh giải ngân vốn đầu tư công. '.repeat(40)
  const limits = [
    { network: 'x', used: weigh(text, 'x'), allowed: 280 },
    { network: 'mastodon', used: text.length, allowed: 500 },
  ]
  const parts = splitFor(text, limits)
  for (const part of parts) expect(weigh(part, 'x')).toBeLessThanOrEqual(280)
  expect(plain(parts.join(' '))).toBe(plain(text))
  expect(parts.length).toBeLessThan(15)
})

test('a network that counts more than estimated gets shorter parts', () => {
  const text = 'một hai ba bốn '.repeat(20).trim()
  const [part = ''] = splitFor(text, [{ network: 'bluesky', used: text.length * 2, allowed: 100 }])
  expect(part.length).toBeLessThanOrEqual(50)
})
