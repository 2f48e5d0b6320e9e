import { useEffect, useRef, useState } from 'react'
import { type Connection, follow } from '../api/stream'
import { base } from '../boot'

/** Follows a stream of the API for as long as the calling component is mounted. */
export function useStream(path: string | undefined, event: (data: unknown) => void): Connection {
  const [state, setState] = useState<Connection>('connecting')
  const latest = useRef(event)
  useEffect(() => {
    latest.current = event
  })
  useEffect(() => {
    if (!path) return
    const stop = new AbortController()
    void follow(base + path, { event: (e) => latest.current(JSON.parse(e.data)), state: setState }, stop.signal)
    return () => stop.abort()
  }, [path])
  return state
}
