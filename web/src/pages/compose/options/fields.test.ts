import { expect, test } from 'vitest'
import en from '../../../i18n/en.json'
import { countOf, optionFields, valueAt, withNetwork, withValue } from './fields'

test('every option and every value has a label', () => {
  for (const [network, fields] of Object.entries(optionFields)) {
    for (const field of fields) {
      expect([network, Object.keys(en.options.field)]).toEqual([
        network,
        expect.arrayContaining([field.name.replace('.', '_')]),
      ])
      if ('values' in field)
        expect([network, Object.keys(en.options.value)]).toEqual([network, expect.arrayContaining(field.values)])
    }
  }
})

test('removing an option removes empty objects', () => {
  const set = withValue(withValue({}, 'link_preview.size', 'large'), 'silent', true)
  expect(set).toEqual({ link_preview: { size: 'large' }, silent: true })
  expect(valueAt(set, 'link_preview.size')).toBe('large')
  const gone = withValue(withValue(set, 'link_preview.size', null), 'silent', false)
  expect(gone).toEqual({})
  expect(withNetwork({ telegram: { silent: true } }, 'telegram', gone)).toEqual({})
})

test('an option that is on by default can be turned off', () => {
  expect(withValue({}, 'share_to_feed', false, true)).toEqual({ share_to_feed: false })
  expect(countOf({ instagram: { share_to_feed: false } }, 'instagram')).toBe(1)
})
