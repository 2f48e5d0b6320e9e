/** When a number was read. */
export interface Sample {
  at: number // in milliseconds
  done: number
}

const span = 30_000 // over which the rate is measured
const least = 1000

/** The samples of the last half minute with another one. After a step back, such as a new job, they begin again. */
export function measure(samples: readonly Sample[], next: Sample): Sample[] {
  const last = samples.at(-1)
  if (last && next.done < last.done) return [next]
  if (last && next.at <= last.at) return [...samples]
  const all = [...samples, next]
  const from = all.findLastIndex((s) => next.at - s.at >= span)
  return all.slice(Math.max(0, from))
}

/** Units per second; undefined until it is known. */
export function rateOf(samples: readonly Sample[]): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last || last.at - first.at < least || last.done <= first.done) return undefined
  return ((last.done - first.done) / (last.at - first.at)) * 1000
}

/** The seconds left; undefined until the rate and the total are known. */
export function secondsLeft(rate: number | undefined, done: number, total: number | undefined): number | undefined {
  return rate && total && total > done ? (total - done) / rate : undefined
}

/** A share in whole percent, rounded down: only completed work is 100%. */
export const percent = (done: number, total: number) => Math.min(100, Math.floor((done / total) * 100))
