/** An entry of a day at a time in minutes. Of entries at the same time, the one with the lower rank is first. */
export interface Timed<T> {
  start: number
  rank: number
  item: T
}

/** Where an entry that overlaps others is drawn: in one of some columns, left of the sign for those that are folded. */
export interface Place {
  column: number
  of: number
  isFolded: boolean
}

export interface Folded<T> {
  /** Without a place, an entry has the whole width. */
  shown: { item: T; place?: Place }[]
  /** What does not fit, from a time on: how many are hidden, and all that are on at that time. */
  overflow: { start: number; hidden: number; items: T[] }[]
}

/**
 * Folds what would be too narrow to read: of entries that overlap, at most as many as there are columns are drawn, and
 * the others are in a list. length is how long an entry is drawn, in minutes.
 */
export function foldOverflow<T>(all: Timed<T>[], columns: number, length: number): Folded<T> {
  const sorted = all.toSorted((a, b) => a.start - b.start || a.rank - b.rank)
  const out: Folded<T> = { shown: [], overflow: [] }
  for (let from = 0; from < sorted.length; ) {
    let to = from + 1
    while (to < sorted.length && (sorted[to]?.start ?? 0) < (sorted[to - 1]?.start ?? 0) + length) to++
    foldGroup(sorted.slice(from, to), columns, length, out)
    from = to
  }
  return out
}

/** Folds entries of which each overlaps the next. */
function foldGroup<T>(group: Timed<T>[], columns: number, length: number, out: Folded<T>) {
  const ends = Array.from({ length: columns }, () => Number.NEGATIVE_INFINITY)
  const placed = group.map((entry) => {
    const column = ends.findIndex((end) => end <= entry.start)
    if (column >= 0) ends[column] = entry.start + length
    return { entry, column }
  })
  const isFolded = placed.some(({ column }) => column < 0)
  const of = isFolded ? columns : 1 + Math.max(...placed.map(({ column }) => column))
  let overflow: Folded<T>['overflow'][number] | undefined
  for (const { entry, column } of placed) {
    if (column >= 0)
      out.shown.push({ item: entry.item, ...(of > 1 || isFolded ? { place: { column, of, isFolded } } : {}) })
    else if (overflow && entry.start < overflow.start + length) overflow.hidden++
    else {
      overflow = { start: entry.start, hidden: 1, items: [] }
      out.overflow.push(overflow)
    }
  }
  for (const c of isFolded ? out.overflow : [])
    if (c.items.length === 0)
      c.items = group.filter((e) => e.start > c.start - length && e.start < c.start + length).map((e) => e.item)
}
