export interface Piece {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** A paragraph; a changed one has pieces of both versions. */
export interface Block {
  kind: 'same' | 'added' | 'removed' | 'changed'
  pieces: Piece[]
}

// Beyond this many comparisons everything counts as changed, to stay fast.
const most = 1_000_000

/** The longest common subsequence of two lists, and the rest of each. */
export function compare(before: string[], after: string[]): Piece[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++
  const a = before.slice(head, before.length - tail)
  const b = after.slice(head, after.length - tail)
  const piece =
    (kind: Piece['kind']) =>
    (text: string): Piece => ({ kind, text })
  return [
    ...before.slice(0, head).map(piece('same')),
    ...middle(a, b),
    ...before.slice(before.length - tail).map(piece('same')),
  ]
}

function middle(a: string[], b: string[]): Piece[] {
  if (a.length * b.length > most)
    return [
      ...a.map((text): Piece => ({ kind: 'removed', text })),
      ...b.map((text): Piece => ({ kind: 'added', text })),
    ]
  const width = b.length + 1
  const longest = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => longest[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const out: Piece[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ kind: 'same', text: a[i] ?? '' })
      i++
      j++
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1)))
      out.push({ kind: 'removed', text: a[i++] ?? '' })
    else out.push({ kind: 'added', text: b[j++] ?? '' })
  }
  return out
}

const words = (text: string) => text.match(/\s+|\S+/g) ?? []

/** Joins neighbors of one kind. */
function joined(pieces: Piece[]): Piece[] {
  const out: Piece[] = []
  for (const p of pieces) {
    const last = out.at(-1)
    if (last?.kind === p.kind) last.text += p.text
    else out.push({ ...p })
  }
  return out
}

export const compareWords = (before: string, after: string) => joined(compare(words(before), words(after)))

/** Reports whether at least a third of the longer one is in both. */
function alike(pieces: Piece[], before: string, after: string): boolean {
  const same = pieces.filter((p) => p.kind === 'same').reduce((n, p) => n + p.text.trim().length, 0)
  return same * 3 >= Math.max(before.length, after.length)
}

/** Compares two texts by paragraphs. */
export function compareTexts(before: string, after: string): Block[] {
  const paragraphs = (text: string) => text.split('\n\n').filter((p) => p !== '')
  const out: Block[] = []
  const gone: string[] = []
  const come: string[] = []
  const flush = () => {
    while (gone.length > 0 || come.length > 0) {
      const [old, fresh] = [gone.shift(), come.shift()]
      const pieces = old !== undefined && fresh !== undefined ? compareWords(old, fresh) : []
      if (old !== undefined && fresh !== undefined && alike(pieces, old, fresh)) {
        out.push({ kind: 'changed', pieces })
        continue
      }
      if (old !== undefined) out.push({ kind: 'removed', pieces: [{ kind: 'removed', text: old }] })
      if (fresh !== undefined) out.push({ kind: 'added', pieces: [{ kind: 'added', text: fresh }] })
    }
  }
  for (const p of compare(paragraphs(before), paragraphs(after))) {
    if (p.kind === 'removed') gone.push(p.text)
    else if (p.kind === 'added') come.push(p.text)
    else {
      flush()
      out.push({ kind: 'same', pieces: [p] })
    }
  }
  flush()
  return out
}
