import type { QueryClient, QueryKey } from '@tanstack/react-query'

/**
 * Changes cached data before the response: every entry of a list, or of the pages of one, under exactly this key. undefined
 * removes an entry. Returns what restores the data.
 */
export function showChange<T>(
  client: QueryClient,
  queryKey: QueryKey,
  change: (entry: T) => T | undefined,
): () => void {
  return showData(client, queryKey, (data) => changed(data, change as (entry: unknown) => unknown))
}

/** Changes cached data before the response, under exactly this key. Returns what restores it. */
export function showData<D>(client: QueryClient, queryKey: QueryKey, change: (data: D) => D): () => void {
  // A response that is on its way has the state before the change.
  void client.cancelQueries({ queryKey, exact: true })
  const before = client.getQueryData<D>(queryKey)
  if (before !== undefined) client.setQueryData<D>(queryKey, change(before))
  return () => {
    if (before !== undefined) client.setQueryData<D>(queryKey, before)
  }
}

function changed(data: unknown, change: (entry: unknown) => unknown): unknown {
  if (Array.isArray(data)) return data.map(change).filter((one) => one !== undefined)
  if (typeof data !== 'object' || data === null) return data
  if ('pages' in data && Array.isArray(data.pages))
    return { ...data, pages: data.pages.map((page) => changed(page, change)) }
  // A page: its list is its only array.
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Array.isArray(value) ? changed(value, change) : value]),
  )
}
