import { expect, test } from 'vitest'
import { fold, key } from './fold'

test.each([
  ['Thời sự', 'Tho\u031b\u0300i su\u031b\u0323'],
  ['Hòa', 'Hoà'],
  ['Kỹ thuật', 'kĩ thuật'],
  ['Quý', 'Quí'],
  ['Lan Anh', ' LAN\u00a0\u200bAnh '],
  ['Đức', 'Ðức'],
  ['Âu-Mỹ', 'âu-mĩ'],
  ['STRASSE', 'straße'],
])('%s and %s are one text', (a, b) => expect(key(a)).toBe(key(b)))

test.each([
  ['Thúy', 'Thúi'],
  ['tay', 'tai'],
  ['Hoa', 'Hòa'],
  ['đa', 'da'],
  ['ab', 'a b'],
  ['Kyle', 'Kile'],
])('%s and %s are two texts', (a, b) => expect(key(a)).not.toBe(key(b)))

test('searching ignores accents', () => expect(fold('Ðà Nẵng Đồng')).toBe('da nang dong'))
