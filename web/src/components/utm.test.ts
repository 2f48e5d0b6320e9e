import { expect, test } from 'vitest'
import { mergeUtm, utmQuery } from './Utm'

test('the parameters of a post replace those of its campaign and of the account', () => {
  const merged = mergeUtm(
    { source: 'x', medium: 'social', term: 'a' },
    { campaign: 'tet' },
    { medium: 'breaking', term: '' },
  )
  expect(merged).toEqual({ source: 'x', medium: 'breaking', campaign: 'tet' })
  expect(utmQuery(merged)).toBe('utm_source=x&utm_medium=breaking&utm_campaign=tet')
  expect(mergeUtm(undefined, undefined)).toEqual({})
})
