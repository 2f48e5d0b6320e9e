/** A text as it is searched: without case and accents. */
export const fold = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[đðɖ]/g, 'd')

/**
 * A text in the form in which two spellings of it are equal: composed or decomposed, with any spaces, with the tone on
 * either vowel, with i or y in open Vietnamese syllables, and with Đ for Ð. Other marks distinguish words.
 */
export const spelling = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[ÐƉ]/g, 'Đ')
    .replace(/[ðɖ]/g, 'đ')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/[\p{L}\p{Mn}]+/gu, (letters) => {
      const [base, tone] = [...letters].reduce(([b, t], c) => (tones.includes(c) ? [b, t + c] : [b + c, t]), ['', ''])
      return base.replace(/^(h|k|l|m|s|t|qu)y$/i, '$1i') + tone
    })

const tones = '\u0300\u0301\u0303\u0309\u0323'

/** The same without case; it is Key of internal/infra/words, which says why. */
export const key = (text: string) => spelling(text.toUpperCase().toLowerCase()) // folds ß too
