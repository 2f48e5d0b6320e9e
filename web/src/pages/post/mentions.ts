export interface Person {
  id: string
  name: string
}

/** The text of a comment in parts: names that it mentions, and what is between them. */
export function partsOf(text: string, people: Person[]): { text: string; person?: Person }[] {
  // Longer names first: "Lan Anh" is not "Lan".
  const sorted = [...people].filter((p) => p.name !== '').sort((a, b) => b.name.length - a.name.length)
  const out: { text: string; person?: Person }[] = []
  let rest = ''
  for (let i = 0; i < text.length; ) {
    const person =
      text[i] === '@' && !/[\p{L}\p{N}]/u.test(text[i - 1] ?? ' ')
        ? sorted.find(
            (p) => text.startsWith(p.name, i + 1) && !/[\p{L}\p{N}]/u.test(text[i + 1 + p.name.length] ?? ' '),
          )
        : undefined
    if (!person) {
      rest += text[i]
      i++
      continue
    }
    if (rest) out.push({ text: rest })
    rest = ''
    out.push({ text: `@${person.name}`, person })
    i += person.name.length + 1
  }
  return rest ? [...out, { text: rest }] : out
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
