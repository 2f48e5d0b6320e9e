import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext } from 'react'
import { api, type Role, type Schemas, unwrap } from '../api/client'
import { Failed, Waiting } from '../components/states'
import { restrictTo } from './formState'
import { loadZones } from './time'

export interface Me extends Omit<Schemas['Me'], never> {
  session: Schemas['OwnSession']
}

const Context = createContext<Me | null>(null)

/** Renders the page once the session is loaded. */
export function SessionProvider({ children }: { children: ReactNode }) {
  const me = useQuery({
    queryKey: ['me'],
    staleTime: 60_000,
    queryFn: async (): Promise<Me> => {
      const session = await unwrap(api.GET('/api/v1/session'))
      const [me, zones] = await Promise.all([unwrap(api.GET('/api/v1/me')), unwrap(api.GET('/api/v1/time-zones'))])
      loadZones(zones)
      restrictTo(me.user.id, me.workspace.id)
      return { ...me, session }
    },
  })
  if (me.data) return <Context value={me.data}>{children}</Context>
  return me.error ? <Failed error={me.error} retry={() => void me.refetch()} /> : <Waiting />
}

export function useMe(): Me {
  const me = useContext(Context)
  if (!me) throw new Error('useMe is for what is inside SessionProvider')
  return me
}

const order: Role[] = ['viewer', 'author', 'editor', 'owner']

/** Reports whether the user has at least this role. The API decides; this only hides what it would refuse. */
export function useAtLeast(role: Role): boolean {
  return order.indexOf(useMe().role) >= order.indexOf(role)
}
