import { useQuery } from '@tanstack/react-query'
import { savedQuery } from '../../lib/newsQueries'
import { accountsQuery, groupsQuery } from '../../lib/queries'
import type { Names } from './summary'

/** The names of what rules refer to. */
export function useNames(): Names {
  const accounts = useQuery(accountsQuery).data
  const groups = useQuery(groupsQuery).data
  const saved = useQuery(savedQuery).data
  return {
    account: (id) => accounts?.find((a) => a.id === id)?.handle,
    group: (id) => groups?.find((g) => g.id === id)?.name,
    search: (id) => saved?.find((s) => s.id === id)?.name,
  }
}
