/** The chosen entry of a list; if it is gone, the one that took its place, or else the last one. */
export const after = <T extends { id: string }>(all: T[], id: string | undefined, place: number): T | undefined =>
  all.find((one) => one.id === id) ?? all[Math.min(place, all.length - 1)]
