import { expect, test } from 'vitest'
import { parseFilter, type Preset, presetRange, rangeOf, readersSearch, toggleFilter } from './search'

test.each<[Preset, string, string, string]>([
  ['today', '2026-11-23', '2026-11-23', '2026-11-23'],
  ['yesterday', '2026-03-01', '2026-02-28', '2026-02-28'],
  ['7days', '2026-11-03', '2026-10-28', '2026-11-03'],
  ['28days', '2026-11-23', '2026-10-27', '2026-11-23'],
  ['month', '2026-11-23', '2026-11-01', '2026-11-23'],
  ['month', '2026-11-01', '2026-11-01', '2026-11-01'],
  ['12months', '2026-11-23', '2025-12-01', '2026-11-23'],
  ['12months', '2026-12-31', '2026-01-01', '2026-12-31'],
  ['lastmonth', '2026-03-31', '2026-02-01', '2026-02-28'],
  ['lastmonth', '2026-01-15', '2025-12-01', '2025-12-31'],
  ['6months', '2026-03-31', '2025-10-01', '2026-03-31'],
  ['all', '2026-11-28', '2023-11-25', '2026-11-28'],
])('the range of %s on %s', (preset, today, from, to) => {
  expect(presetRange(preset, today)).toEqual({ from, to })
})

const only = (o: object) => Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined))

test.each([
  ['nothing', {}, {}],
  [
    'all of a report',
    { site: 's', range: '7days', compare: 'year', filter: 'channel:search' },
    { site: 's', range: '7days', compare: 'year', filter: ['channel:search'] },
  ],
  [
    'a custom range wins over a preset',
    { range: '7days', from: '2026-01-01', to: '2026-01-31' },
    { from: '2026-01-01', to: '2026-01-31' },
  ],
  ['a range that ends before it starts', { from: '2026-02-01', to: '2026-01-31' }, {}],
  ['half a range', { range: 'month', from: '2026-02-01' }, { range: 'month' }],
  ['a date that does not exist', { from: '2026-02-30', to: '2026-03-01' }, {}],
  [
    'several filters, each once',
    { filter: ['page:/a', 'city:hue', 'page:/a', 'country:VN', 7] },
    { filter: ['page:/a', 'country:VN'] },
  ],
  ['unknown values', { range: 'week', compare: 'decade', filter: 'city:hue', tab: 'x' }, {}],
  ['a single page is shown live', { page: '/a' }, { page: '/a', tab: 'live' }],
])('the address: %s', (_, search, want) => {
  expect(only(readersSearch(search))).toEqual(want)
})

test('the days of a URL', () => {
  expect(rangeOf({}, '2026-11-23')).toEqual({ from: '2026-10-27', to: '2026-11-23' })
  expect(rangeOf({ range: 'today' }, '2026-11-23')).toEqual({ from: '2026-11-23', to: '2026-11-23' })
  expect(rangeOf({ from: '2026-01-01', to: '2026-01-31' }, '2026-11-23')).toEqual({
    from: '2026-01-01',
    to: '2026-01-31',
  })
})

test.each([
  ['page:/a:b', { name: 'page', value: '/a:b' }],
  ['os:Android', { name: 'os', value: 'Android' }],
  ['channel:', undefined],
  ['channel', undefined],
  ['city:hue', undefined],
])('the filter %s', (text, want) => {
  expect(parseFilter(text)).toEqual(want)
})

test.each([
  ['a first one', [], 'country:VN', ['page', 'country'], ['country:VN']],
  ['another value', ['country:VN'], 'country:LA', ['page', 'country'], ['country:VN', 'country:LA']],
  ['another dimension', ['page:/a'], 'country:VN', ['page', 'country', 'device'], ['page:/a', 'country:VN']],
  ['one that is set is removed', ['page:/a', 'country:VN'], 'page:/a', ['page', 'country'], ['country:VN']],
  ['the last one', ['page:/a'], 'page:/a', ['page'], undefined],
  ['what is not counted together replaces', ['channel:search'], 'country:VN', ['channel'], ['country:VN']],
])('a click on a row: %s', (_, filters, row, combinable, want) => {
  const filter = parseFilter(row)
  expect(filter && toggleFilter(filters, filter, combinable)).toEqual(want)
})
