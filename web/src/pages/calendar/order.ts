/** A slot of a queue; free without a post. */
export interface QueueSlot {
  at: string
  post_id?: string
}

/**
 * Where a post goes that is dropped on another one: before it, or, if it comes from above, behind it. undefined as `before`
 * means the end of the queue. Only movable posts have a place.
 */
export function placeOn(
  slots: QueueSlot[],
  movable: ReadonlySet<string>,
  id: string,
  target: string,
): { before: string | undefined } | undefined {
  const order = orderOf(slots, movable)
  const [from, to] = [order.indexOf(id), order.indexOf(target)]
  if (from < 0 || to < 0 || from === to) return undefined
  return { before: from > to ? target : order[to + 1] }
}

/** Where a post goes that moves by one place; undefined: it is the first or the last. */
export function placeBeside(
  slots: QueueSlot[],
  movable: ReadonlySet<string>,
  id: string,
  step: 1 | -1,
): { before: string | undefined } | undefined {
  const order = orderOf(slots, movable)
  const neighbor = order[order.indexOf(id) + step]
  return neighbor === undefined ? undefined : placeOn(slots, movable, id, neighbor)
}

/** The post behind a post, which undoes a move. */
export function followerOf(slots: QueueSlot[], movable: ReadonlySet<string>, id: string): string | undefined {
  const order = orderOf(slots, movable)
  return order[order.indexOf(id) + 1]
}

/** The slots after a move, as the API will have them. Free slots and posts that are not movable stay. */
export function reordered<S extends QueueSlot>(
  slots: S[],
  movable: ReadonlySet<string>,
  id: string,
  before?: string,
): S[] {
  const order = orderOf(slots, movable).filter((other) => other !== id)
  order.splice(before === undefined ? order.length : order.indexOf(before), 0, id)
  return slots.map((s) => (s.post_id !== undefined && movable.has(s.post_id) ? { ...s, post_id: order.shift() } : s))
}

const orderOf = (slots: QueueSlot[], movable: ReadonlySet<string>) =>
  slots.flatMap((s) => (s.post_id !== undefined && movable.has(s.post_id) ? [s.post_id] : []))
