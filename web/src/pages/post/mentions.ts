import { key, spelling } from '../../lib/fold'

export interface Person {
  id: string
  name: string
}

/** The text of a comment in parts: names that it mentions, in any spelling, and what is between them. */
export function partsOf(text: string, people: Person[]): { text: string; person?: Person }[] {
  const known = new Map(people.filter((p) => p.name !== '').map((p) => [key(p.name), p]))
  const longest = Math.max(0, ...[...known.keys()].map((k) => k.split(' ').length))
  const out: { text: string; person?: Person }[] = []
  let rest = ''
  for (let i = 0; i < text.length; ) {
    const found = text[i] === '@' && !isWord.test(text[i - 1] ?? ' ') ? nameAt(text, i + 1, known, longest) : undefined
    if (!found) {
      rest += text[i]
      i++
      continue
    }
    if (rest) out.push({ text: rest })
    rest = ''
    out.push({ text: `@${found.person.name}`, person: found.person })
    i = found.end
  }
  return rest ? [...out, { text: rest }] : out
}

const isWord = /[\p{L}\p{N}\p{Mn}]/u

/**
 * The longest name that begins at a place: "Lan Anh" is not "Lan". One in the same case is preferred, because words that
 * follow a name may be names too: in "@Lan anh nghĩ" anh is a pronoun.
 */
function nameAt(text: string, start: number, known: Map<string, Person>, longest: number) {
  let found: { person: Person; end: number; sameCase: boolean } | undefined
  let words = 0
  for (let end = start + 1; end <= text.length && words <= longest; end++) {
    const next = text[end] ?? ' '
    if (isWord.test(next) || /\s/u.test(text[end - 1] ?? '')) continue
    const name = text.slice(start, end)
    const person = known.get(key(name))
    if (person) {
      const sameCase = spelling(name) === spelling(person.name)
      if (sameCase || !found?.sameCase) found = { person, end, sameCase }
    }
    if (/\s/u.test(next)) words++
  }
  return found
}

/** Whom a comment mentions, each once. */
export const mentionedIn = (text: string, people: Person[]) => [
  ...new Set(partsOf(text, people).flatMap((p) => (p.person ? [p.person.id] : []))),
]

/** What is being typed after an @, if that is where the cursor is. */
export function typedMention(text: string, cursor: number): { at: number; name: string } | undefined {
  const at = text.lastIndexOf('@', cursor - 1)
  if (at < 0 || /[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ')) return undefined
  const name = text.slice(at + 1, cursor)
  return name.length <= 40 && !name.includes('\n') ? { at, name } : undefined
}
