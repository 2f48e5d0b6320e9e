/**
 * How much a network counts for a letter, estimated where its own count is not at hand. X counts letters outside of
 * some ranges, such as ế, as two (twitter-text, config version 3), and links as 23.
 */
export function weigh(text: string, network: string): number {
  if (network !== 'x') return [...text].length
  let sum = 0
  for (const part of text.split(/(https?:\/\/\S+)/)) {
    if (/^https?:\/\//.test(part)) sum += linkWeight
    else for (const letter of part.normalize('NFC')) sum += isLight(letter.codePointAt(0) ?? 0) ? 1 : 2
  }
  return sum
}

const linkWeight = 23
const light = [
  [0, 4351],
  [8192, 8205],
  [8208, 8223],
  [8242, 8247],
] as const
const isLight = (code: number) => light.some(([from, to]) => code >= from && code <= to)

/** Splits a text into parts that fit: between paragraphs, else sentences, else words; only a longer word is cut. */
export function splitText(text: string, fits: (part: string) => boolean): string[] {
  return join(paragraphs(text.trim()), fits, (paragraph) =>
    join(sentences(paragraph), fits, (sentence) => join(words(sentence), fits, (word) => join(letters(word), fits))),
  )
}

const paragraphs = (text: string) => text.split(/(?<=\n)(?=\S)/)
const segments = (granularity: 'sentence' | 'grapheme') => (text: string) =>
  [...new Intl.Segmenter(undefined, { granularity }).segment(text)].map((s) => s.segment)
const sentences = segments('sentence')
const letters = segments('grapheme')
const words = (text: string) => text.split(/(?<=\s)(?=\S)/)

/** Joins pieces into as few parts as fit; what does not fit alone is divided further. */
function join(pieces: string[], fits: (part: string) => boolean, divide?: (piece: string) => string[]): string[] {
  const out: string[] = []
  let part = ''
  for (const piece of pieces) {
    if (fits((part + piece).trim())) {
      part += piece
      continue
    }
    if (part.trim() !== '') out.push(part.trim())
    part = piece
    if (!fits(piece.trim()) && divide) {
      const divided = divide(piece)
      // The space behind it separates it from the next piece.
      part = (divided.pop() ?? '') + (/\s*$/.exec(piece)?.[0] ?? '')
      out.push(...divided)
    }
  }
  if (part.trim() !== '') out.push(part.trim())
  return out
}

/** What an account counts for a text, and how much it allows. */
export interface Limit {
  network: string
  used: number
  allowed: number
}

/**
 * Splits a text so that it fits all accounts. The estimate is scaled by what the networks counted for the whole, so
 * that no rule of theirs is repeated here.
 */
export function splitFor(text: string, limits: Limit[]): string[] {
  const scaled = limits.map(({ network, used, allowed }) => ({
    network,
    budget: allowed / Math.max(1, used / Math.max(1, weigh(text, network))),
  }))
  return splitText(text, (part) => scaled.every(({ network, budget }) => weigh(part, network) <= budget))
}
