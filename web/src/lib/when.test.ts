import { expect, test } from 'vitest'
import { commonTimes, formatWhen } from './when'

test('a time is formatted for a field, so that the server can parse it', () => {
  expect(formatWhen('2026-11-24T09:00', 'en')).toBe('Tue 24 Nov 2026, 09:00')
  expect(formatWhen('2026-11-29T09:00', 'vi')).toBe('CN, 29/11/2026 09:00')
  expect(formatWhen('', 'en')).toBe('')
})

test('the common times are in an hour, tomorrow and next Monday', () => {
  expect(commonTimes('Asia/Ho_Chi_Minh', Date.parse('2026-11-23T03:20:30Z'))).toEqual({
    inOneHour: '2026-11-23T11:21',
    tomorrow: '2026-11-24T09:00',
    monday: '2026-11-30T09:00',
  })
  expect(commonTimes('Europe/Paris', Date.parse('2026-03-29T00:30:00Z')).inOneHour).toBe('2026-03-29T03:30') // the clock skips an hour
})
