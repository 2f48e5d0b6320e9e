import { expect, test } from 'vitest'
import { columnOf, linesOf, localTimes, prepare, readFile } from './local'

const times = (texts: string[], language: string) =>
  localTimes(texts, language).map((t) => ('time' in t ? t.time : `? ${t.ambiguous.join(' ')}`))

test.each([
  ['29/11/2026 10:00', '2026-11-29T10:00'],
  ['29-11-2026 07:30:15', '2026-11-29T07:30:15'],
  ['1.5.2027, 9:05', '2027-05-01T09:05'],
  ['10:00 29/11/2026', '2026-11-29T10:00'],
  ['7h30, 29/11/2026', '2026-11-29T07:30'],
  ['29/11/2026 19h', '2026-11-29T19:00'],
  ['11/29/2026 7:30 PM', '2026-11-29T19:30'],
  ['05/05/2026 12:00 AM', '2026-05-05T00:00'],
  ['2026-11-29T10:00', '2026-11-29T10:00'],
  ['2026-11-29 10:00', '2026-11-29T10:00'],
  ['2026/11/29 9:05:30', '2026-11-29T09:05:30'],
  ['29/11/2026', '29/11/2026'], // no time: the API says what is missing
  ['31/2/2026 10:00', '31/2/2026 10:00'],
  ['29/11/2026 25:00', '29/11/2026 25:00'],
  ['mai 9h', 'mai 9h'],
  ['', ''],
])('%s is read in both languages', (text, want) => {
  expect(times([text], 'vi')).toEqual([want])
  expect(times([text], 'en')).toEqual([want])
})

test('the order of day and month is that of the language, or of a date in the file with only one reading', () => {
  expect(times(['07/08/2026 10:00'], 'vi')).toEqual(['2026-08-07T10:00'])
  expect(times(['07/08/2026 10:00'], 'en')).toEqual(['? 2026-08-07T10:00 2026-07-08T10:00'])
  expect(times(['07/08/2026 10:00', '29/11/2026 10:00'], 'en')[0]).toBe('2026-08-07T10:00')
  expect(times(['07/08/2026 10:00', '11/29/2026 10:00'], 'vi')[0]).toBe('2026-07-08T10:00')
  // A file with both orders: only what has one reading is read.
  expect(times(['07/08/2026 10:00', '11/29/2026 10:00', '29/11/2026 10:00'], 'vi')).toEqual([
    '? 2026-08-07T10:00 2026-07-08T10:00',
    '2026-11-29T10:00',
    '2026-11-29T10:00',
  ])
})

test.each([
  ['Nội dung', 'content'],
  ['thời gian đăng', 'scheduled_time'],
  ['NGÀY_GIỜ', 'scheduled_time'],
  ['Múi giờ', 'time_zone'],
  ['tài khoản', 'accounts'],
  ['scheduled_time', 'scheduled_time'],
  ['Ghi chú', 'Ghi chú'],
])('the column %s is %s', (name, want) => {
  expect(columnOf(name)).toBe(want)
})

test('rows keep their lines in the file, also when text is sent in other lines', () => {
  const sheet = readFile(
    'sep=;\r\nNội dung;Thời gian\r\n\r\n"Dòng một\r\ndòng hai";29/11/2026 10:00\r\nBa;07/08/2026 10:00\r\n',
  )
  const sent = prepare(sheet, 'vi')
  expect(readFile(sent.text).columns).toEqual(['content', 'scheduled_time'])
  expect([...readFile(sent.text).rows.values()]).toEqual([
    { content: 'Dòng một\r\ndòng hai', scheduled_time: '2026-11-29T10:00' },
    { content: 'Ba', scheduled_time: '2026-08-07T10:00' },
  ])
  expect([...linesOf(sent)]).toEqual([
    [2, 4],
    [4, 6],
  ])
  expect([...prepare(readFile('content,scheduled_time\nA,07/08/2026 10:00\n'), 'en').ambiguous]).toEqual([
    [2, ['2026-08-07T10:00', '2026-07-08T10:00']],
  ])
})

test('a row with missing or further cells stays one', () => {
  const sent = prepare(readFile('Nội dung,Thời gian\nA\nB,29/11/2026 10:00,x\nC,29/11/2026 10:00,\n'), 'vi')
  expect(sent.text.split(/\r?\n/)).toEqual([
    'content,scheduled_time',
    'A',
    'B,2026-11-29T10:00,x',
    'C,2026-11-29T10:00',
  ])
})
