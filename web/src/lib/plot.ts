type Value = number | null

/**
 * Splits a line at the bucket that is still running. That part is drawn dashed, from the last complete value on; of
 * later buckets nothing is known.
 */
export function splitRunning(values: (number | undefined)[], complete: number): { solid: Value[]; running: Value[] } {
  const part = (from: number, to: number) => values.map((v, i) => (i >= from && i < to ? (v ?? null) : null))
  const isRunning = complete < values.length
  return { solid: part(0, complete), running: isRunning ? part(complete - 1, complete + 1) : part(0, 0) }
}

/** The steps of an axis that counts: whole numbers. */
export const wholeSteps = Array.from({ length: 12 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** i)).flat()
