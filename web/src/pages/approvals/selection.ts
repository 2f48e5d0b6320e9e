/** The selected posts after a click on one: with Shift, all from the last one to it are like it. */
export function select(chosen: string[], all: string[], id: string, isOn: boolean, from?: string): string[] {
  const [a, b] = [all.indexOf(from ?? id), all.indexOf(id)]
  const range = a < 0 ? [id] : all.slice(Math.min(a, b), Math.max(a, b) + 1)
  return all.filter((one) => (range.includes(one) ? isOn : chosen.includes(one)))
}
