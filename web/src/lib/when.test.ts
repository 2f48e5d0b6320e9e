import { describe, expect, test } from 'vitest'
import { formatWhen, offsetName, parseWhen } from './when'

const zone = 'Asia/Ho_Chi_Minh'
const now = Date.parse('2026-11-23T03:20:30Z') // Monday 10:20 there

describe('parseWhen parses natural language', () => {
  test.each([
    ['tomorrow 9', '2026-11-24T09:00'],
    ['Tomorrow at 9:30', '2026-11-24T09:30'],
    ['tomorrow', '2026-11-24T09:00'],
    ['today 18:00', '2026-11-23T18:00'],
    ['9', '2026-11-24T09:00'], // nine has passed today
    ['11:15', '2026-11-23T11:15'],
    ['7pm', '2026-11-23T19:00'],
    ['12am', '2026-11-24T00:00'],
    ['tonight', '2026-11-23T20:00'],
    ['tomorrow evening', '2026-11-24T19:00'],
    ['friday 7:30', '2026-11-27T07:30'],
    ['Fri', '2026-11-27T09:00'],
    ['monday 9', '2026-11-30T09:00'], // nine of this Monday has passed
    ['monday 18:00', '2026-11-23T18:00'],
    ['next monday 9:00', '2026-11-30T09:00'],
    ['next friday', '2026-12-04T09:00'],
    ['next week', '2026-11-30T09:00'],
    ['in 1 hour', '2026-11-23T11:21'],
    ['in 45 minutes', '2026-11-23T11:06'],
    ['in half an hour', '2026-11-23T10:51'],
    ['in 3 days', '2026-11-26T10:20'],
    ['in 2 days at 8', '2026-11-25T08:00'],
    ['24 Dec 18:00', '2026-12-24T18:00'],
    ['Dec 24, 6pm', '2026-12-24T18:00'],
    ['5 March', '2027-03-05T09:00'],
    ['24/12 18:00', '2026-12-24T18:00'],
    ['24/12/2027 7:00', '2027-12-24T07:00'],
    ['2026-12-24T18:00', '2026-12-24T18:00'],
    ['2026-12-24 18:00', '2026-12-24T18:00'],
    ['day after tomorrow 8am', '2026-11-25T08:00'],
    ['thứ hai 7h30', '2026-11-30T07:30'],
    ['ngày mai 9 giờ', '2026-11-24T09:00'],
    ['mai 9h', '2026-11-24T09:00'],
    ['9 giờ sáng mai', '2026-11-24T09:00'],
    ['7 giờ tối nay', '2026-11-23T19:00'],
    ['tối nay', '2026-11-23T19:00'],
    ['chiều mai 3 giờ rưỡi', '2026-11-24T15:30'],
    ['thứ 6 14:00', '2026-11-27T14:00'],
    ['thứ sáu tuần sau 8h', '2026-12-04T08:00'],
    ['chủ nhật 20h15', '2026-11-29T20:15'],
    ['cn 9h', '2026-11-29T09:00'],
    ['thứ tư', '2026-11-25T09:00'],
    ['2 tiếng nữa', '2026-11-23T12:21'],
    ['30 phút nữa', '2026-11-23T10:51'],
    ['sau 2 giờ', '2026-11-23T12:21'],
    ['ngày kia 9h', '2026-11-25T09:00'],
    ['24 tháng 12 lúc 18h', '2026-12-24T18:00'],
    ['ngày 24/12 lúc 18 giờ', '2026-12-24T18:00'],
    ['hôm nay 23h59', '2026-11-23T23:59'],
    ['12 giờ trưa mai', '2026-11-24T12:00'],
  ])('%s', (text, want) => {
    expect(parseWhen(text, zone, now)).toBe(want)
  })
})

test.each(['', 'soon', 'tomorrow maybe', '25:00', '31/2', 'tomorrow 9 10', 'next', '13pm', 'mai mốt gì đó'])('parseWhen refuses what it does not understand: %j', (text) => {
  expect(parseWhen(text, zone, now)).toBeUndefined()
})

test('hours ahead are counted across a clock change', () => {
  expect(parseWhen('in 2 hours', 'Europe/Paris', Date.parse('2026-03-29T00:30:00Z'))).toBe('2026-03-29T04:30')
})

test('the text of a field can be parsed again', () => {
  for (const language of ['en', 'vi'])
    for (const wall of ['2026-11-24T09:00', '2026-11-29T00:05', '2027-02-28T23:59', '2027-05-01T12:30']) expect(parseWhen(formatWhen(wall, language), zone, now)).toBe(wall)
  expect(formatWhen('2026-11-24T09:00', 'en')).toBe('Tue 24 Nov 2026, 09:00')
  expect(formatWhen('2026-11-29T09:00', 'vi')).toBe('CN, 29/11/2026 09:00')
})

test('a zone is named by its offset', () => {
  expect(offsetName('Asia/Ho_Chi_Minh', now)).toBe('GMT+7')
  expect(offsetName('Europe/Paris', Date.parse('2026-07-01T00:00Z'))).toBe('GMT+2')
})
